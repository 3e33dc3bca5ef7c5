#pragma once
// What a login shell of the user would have in its environment, for --get-user-env and for --export
// without ALL. Runs the shell once, bounded in time. Spec sbatch-translate 7.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/base/result.h"
#include "slurm_shim/posix/runner.h"

#include <chrono>
#include <string>
#include <vector>

namespace shim::batchexec {

// Without what belongs to the shell itself, to the engine and to Slurm. `own`: HOME, USER, SHELL.
[[nodiscard]] Result<std::vector<std::string>>
login_environment(posix::Runner& runner, const EnvList& own, std::chrono::seconds timeout);

} // namespace shim::batchexec
