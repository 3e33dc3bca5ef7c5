#include "canary.h"

#include "slurm_shim/posix/fd.h"
#include "slurm_shim/posix/signals.h"
#include "slurm_shim/posix/spawn.h"

#include <csignal>
#include <cstddef>

#include <sys/prctl.h>
#include <unistd.h>

namespace shim::stepper {

namespace {

// Used once per process; the canary stands on it for ever.
alignas(64) std::byte g_stack[8192];

int wait_for_ever(void* argument) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != *static_cast<pid_t*>(argument)) ::_exit(0);
  posix::close_descriptors_from(0);
  posix::ignore_signals({SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP});
  for (;;)
    ::pause();
}

} // namespace

Result<pid_t> start_canary() {
  static pid_t parent = 0;
  parent = ::getpid();
  return posix::start_thin_process(wait_for_ever, &parent, g_stack);
}

} // namespace shim::stepper
