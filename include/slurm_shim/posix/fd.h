#pragma once
// Owned file descriptors. Every descriptor is close-on-exec from its creation; what a child is to
// have is handed over explicitly by posix/spawn.

#include "slurm_shim/base/result.h"

#include <string>
#include <utility>

namespace shim::posix {

class Fd {
public:
  Fd() = default;
  explicit Fd(int fd) : m_fd(fd) {}
  Fd(Fd&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.m_fd, -1));
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  [[nodiscard]] int get() const { return m_fd; }
  [[nodiscard]] bool valid() const { return m_fd >= 0; }
  explicit operator bool() const { return valid(); }
  [[nodiscard]] int release() { return std::exchange(m_fd, -1); }
  void reset(int fd = -1);

private:
  int m_fd = -1;
};

struct Pipe {
  Fd read;
  Fd write;
};
[[nodiscard]] Result<Pipe> make_pipe();
// SOCK_SEQPACKET unix socket pair: keeps message borders, EOF when the peer is gone.
[[nodiscard]] Result<std::pair<Fd, Fd>> make_seqpacket_pair();
[[nodiscard]] Result<Fd> open_file(const std::string& path, int flags, unsigned mode = 0600);
[[nodiscard]] Result<void> set_nonblocking(int fd);
// Writes all bytes of a blocking descriptor, restarting after EINTR; 0 or errno.
[[nodiscard]] int write_all(int fd, std::string_view bytes);

// Opens /dev/null on whichever of 0, 1, 2 is closed, so that no file or socket of ours lands there.
void ensure_standard_fds();

// For a process that begins anew (a stepper, a canary): nothing of what a caller left open is kept.
void close_descriptors_from(int first);

} // namespace shim::posix
