#include "input_source.h"

#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/terminal.h"

#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shim::commands::srun {

namespace asio = boost::asio;

InputSource::InputSource(asio::io_context& loop, int fd) : m_fd(fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return;
  m_is_terminal = ::isatty(fd) == 1;
  m_is_socket = S_ISSOCK(status.st_mode);
  if (S_ISFIFO(status.st_mode) || m_is_terminal)
    if (auto own = posix::open_file("/proc/self/fd/" + std::to_string(fd),
                                    O_RDONLY | O_NONBLOCK | O_NOCTTY))
      m_own = std::move(*own);
  posix::Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{};
  event.events = EPOLLIN;
  const int watched = m_own ? m_own.get() : fd;
  // Files and the like cannot be watched: they are always readable.
  if (epoll && ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, watched, &event) == 0)
    m_readable.emplace(loop, epoll.release());
}

bool InputSource::poll_now() const {
  pollfd ready{m_fd, POLLIN, 0};
  return ::poll(&ready, 1, 0) == 1;
}

InputSource::Read InputSource::read(std::span<char> buffer) {
  if (m_is_terminal && !posix::may_read_terminal(m_fd)) return {Kind::background, 0, 0};
  if (m_readable && !m_own && !poll_now()) return {Kind::nothing_now, 0, 0};
  const auto got = m_is_socket ? ::recv(m_fd, buffer.data(), buffer.size(), MSG_DONTWAIT)
                               : ::read(m_own ? m_own.get() : m_fd, buffer.data(), buffer.size());
  if (got > 0) return {Kind::bytes, static_cast<std::size_t>(got), 0};
  if (got == 0) return {Kind::end, 0, 0};
  if (errno == EAGAIN || errno == EINTR) return {Kind::nothing_now, 0, 0};
  return {Kind::end, 0, errno};
}

void InputSource::wait(std::function<void()> ready) {
  if (!m_readable) return;
  m_readable->async_wait(asio::posix::descriptor_base::wait_read,
                         [ready = std::move(ready)](const boost::system::error_code& error) {
                           if (!error) ready();
                         });
}

void InputSource::cancel() {
  boost::system::error_code ignored;
  if (m_readable) m_readable->cancel(ignored);
}

} // namespace shim::commands::srun
