#include "slurm_shim/posix/fd_sink.h"

#include "slurm_shim/posix/fd.h"

namespace shim::posix {

void FdSink::write(std::string_view text) {
  if (m_error != 0) return;
  constexpr std::size_t k_flush_at = 65536;
  m_buffer += text;
  if (!m_buffered || m_buffer.size() >= k_flush_at) flush();
}

int FdSink::flush() {
  if (m_error == 0 && !m_buffer.empty()) m_error = write_all(m_fd, m_buffer);
  m_buffer.clear();
  return m_error;
}

} // namespace shim::posix
