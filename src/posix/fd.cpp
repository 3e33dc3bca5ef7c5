#include "slurm_shim/posix/fd.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace shim::posix {

void Fd::reset(int fd) {
  if (m_fd >= 0) ::close(m_fd);
  m_fd = fd;
}

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("pipe", errno);
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

Result<std::pair<Fd, Fd>> make_seqpacket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fail_errno("socketpair", errno);
  return std::pair<Fd, Fd>{Fd(ends[0]), Fd(ends[1])};
}

Result<Fd> open_file(const std::string& path, int flags, unsigned mode) {
  for (;;) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC, static_cast<mode_t>(mode));
    if (fd >= 0) return Fd(fd);
    if (errno != EINTR) return fail_errno(path, errno);
  }
}

Result<void> set_nonblocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) return fail_errno("fcntl", errno);
  return {};
}

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

void ensure_standard_fds() {
  for (int fd = 0; fd <= 2; ++fd)
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF)
        // The lowest free number is `fd` itself, and it is to be inherited: no O_CLOEXEC.
        [[maybe_unused]]
      const int opened = ::open("/dev/null", O_RDWR); // NOLINT
}

void close_descriptors_from(int first) {
  if (::syscall(SYS_close_range, static_cast<unsigned>(first), ~0U, 0) == 0) return;
  rlimit limit{}; // kernels before 5.9
  ::getrlimit(RLIMIT_NOFILE, &limit);
  for (int fd = first; static_cast<rlim_t>(fd) < limit.rlim_cur; ++fd)
    ::close(fd);
}

} // namespace shim::posix
