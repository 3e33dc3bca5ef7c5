#pragma once
// The trampoline of a rank as a program: `slurm-shim rank-exec [--cpuset LIST] [--chdir DIR]
// [--task-prolog PROGRAM] -- CMD ARG...`. The guardian does the same steps itself between clone and
// exec, except for a prolog: it needs a process that runs on and becomes the task. Why the rank
// never ran goes to descriptor 3, or else to stderr in the words of a stepper. Spec stepper 2.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/base/result.h"

#include <span>
#include <string>
#include <vector>

namespace shim::stepper {

struct RankExecRequest {
  std::string cpuset, chdir, task_prolog;
  std::vector<std::string> command;
};
// `unknown rank-exec argument "echo"`, `--cpuset needs a value`, `missing -- command separator`,
// `no command after --`.
[[nodiscard]] Result<RankExecRequest> parse_rank_exec(std::span<char* const> args);

// What a task is said to have exited with whose program could not be executed.
[[nodiscard]] int exit_code_of_exec(int error_number);

} // namespace shim::stepper
