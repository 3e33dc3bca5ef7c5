#pragma once
// A Sink on a descriptor that it does not own: buffered (stdout) or written at once (stderr).

#include "slurm_shim/base/sink.h"

namespace shim::posix {

class FdSink final : public Sink {
public:
  FdSink(int fd, bool buffered) : m_fd(fd), m_buffered(buffered) {}
  ~FdSink() override { flush(); }
  void write(std::string_view text) override;
  int flush() override;

private:
  int m_fd;
  bool m_buffered;
  int m_error = 0;
  std::string m_buffer;
};

} // namespace shim::posix
