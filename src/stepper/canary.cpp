#include "canary.h"

#include "slurm_shim/posix/fd.h"
#include "slurm_shim/posix/signals.h"
#include "slurm_shim/posix/spawn.h"

#include <csignal>

#include <sys/prctl.h>
#include <unistd.h>

namespace shim::stepper {

namespace {

[[noreturn]] void wait_for_ever(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  posix::close_descriptors_from(0);
  posix::ignore_signals({SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP});
  for (;;)
    ::pause();
}

} // namespace

Result<pid_t> start_canary() {
  const auto parent = ::getpid();
  const auto pid = posix::fork_process();
  if (pid && *pid == 0) wait_for_ever(parent);
  return pid;
}

} // namespace shim::stepper
