#pragma once
// srun's standard input as something that never blocks: the descriptor is shared with the shell and
// may not be made non-blocking, and another reader of the same pipe may take the bytes that poll
// has just promised. Pipes and terminals are therefore opened once more, with a description of our
// own; what cannot be (a socket, another user's pipe) is polled before each read.

#include "slurm_shim/base/result.h"
#include "slurm_shim/posix/fd.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <functional>
#include <optional>
#include <span>

namespace shim::commands::srun {

class InputSource {
public:
  // `fd` stays the caller's and open as long as this object lives.
  InputSource(boost::asio::io_context& loop, int fd);

  enum class Kind { bytes, nothing_now, end, background };
  struct Read {
    Kind kind = Kind::end; // background: a terminal that another process group has
    std::size_t count = 0;
    int error = 0; // of the read that makes it the end
  };
  [[nodiscard]] Read read(std::span<char> buffer);
  // Calls `ready` once when reading is worth a try; not after destruction or cancel().
  void wait(std::function<void()> ready);
  void cancel();

private:
  [[nodiscard]] bool poll_now() const;

  int m_fd;
  posix::Fd m_own; // the same file with flags of our own
  bool m_is_terminal = false;
  bool m_is_socket = false;
  // An epoll of our own below the loop's: the loop sets what it watches non-blocking.
  std::optional<boost::asio::posix::stream_descriptor> m_readable; // none: never has to wait
};

} // namespace shim::commands::srun
