#pragma once
// The process that stays in the engine's process group on behalf of the guardian, which has left
// it: its parent sees by its state that the engine stopped, continued or killed the group. Decision
// E1, OCS-FACTS-3 section 2.

#include "slurm_shim/base/result.h"

#include <sys/types.h>

namespace shim::stepper {

// To be called before setsid. The canary holds no descriptor, ignores what can be ignored and dies
// with its parent. It shares the guardian's memory, so that it costs next to nothing.
[[nodiscard]] Result<pid_t> start_canary();

} // namespace shim::stepper
