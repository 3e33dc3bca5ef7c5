#pragma once
// How the engine's suspension of a job comes to hosts where the engine stops nothing: the guardian
// beside the batch script sees its canary stopped and appends a line to the job's mailbox, and on
// every other host a listener, who watches the mailbox, tells its guardian. srun and the supervisor
// are stopped meanwhile and cannot relay. Both touch a file system of the network that may hang, so
// both are processes of their own. Decision E9, OCS-FACTS-3 section 2, spec job-files 7.

#include "slurm_shim/base/result.h"
#include "slurm_shim/posix/fd.h"

#include <string>

#include <sys/types.h>

namespace shim::stepper {

inline constexpr char k_suspended = 'S';
inline constexpr char k_resumed = 'C';

struct Listener {
  pid_t pid = -1;
  posix::Fd words; // k_suspended and k_resumed, one byte each; never blocks
};
// A child in the caller's process group that holds nothing of the caller's open and ends with it.
// It stands for the canary, too: the engine's STOP reaches it.
[[nodiscard]] Result<Listener> start_listener(const std::string& mailbox);

// Appends the line in a child that the caller reaps like any other of its children.
void tell_mailbox(const std::string& mailbox, bool suspended);

} // namespace shim::stepper
