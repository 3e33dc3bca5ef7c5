#include "slurm_shim/posix/signals.h"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>

#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace shim::posix {

void reset_signals() {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number)
    ::sigaction(number, &action, nullptr);
  // glibc keeps 32 and 33 for itself and refuses to touch them, but an ignored one is inherited
  // through exec all the same. All zero is the kernel's form of SIG_DFL.
  const unsigned long kernel_default[4] = {};
  for (int number = 32; number <= 33; ++number)
    ::syscall(SYS_rt_sigaction, number, kernel_default, nullptr, std::size_t{8});
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void ignore_signals(std::initializer_list<int> numbers) {
  for (const int number : numbers)
    static_cast<void>(::signal(number, SIG_IGN));
}

bool is_ignored(int number) {
  struct sigaction action = {};
  return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

Result<Fd> block_into_signalfd(std::initializer_list<int> numbers) {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : numbers)
    ::sigaddset(&set, number);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  Fd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return fail_errno("signalfd", errno);
  return fd;
}

namespace {

bool read_info(int signal_fd, signalfd_siginfo& info) {
  return ::read(signal_fd, &info, sizeof info) == static_cast<ssize_t>(sizeof info);
}

} // namespace

int take_signal(int signal_fd) {
  signalfd_siginfo info{};
  return read_info(signal_fd, info) ? static_cast<int>(info.ssi_signo) : 0;
}

int take_foreign_signal(int signal_fd) {
  signalfd_siginfo info{};
  while (read_info(signal_fd, info))
    if (info.ssi_pid != static_cast<std::uint32_t>(::getpid()))
      return static_cast<int>(info.ssi_signo);
  return 0;
}

Result<Fd> open_pidfd(pid_t pid) {
  // glibc has a wrapper only from 2.36 on, and its header is C alone there.
  Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!fd) return fail_errno("pidfd_open", errno);
  return fd;
}

} // namespace shim::posix
