#pragma once
// The trampoline of a rank as a program: `slurm-shim rank-exec [--cpuset LIST] [--chdir DIR] -- CMD
// ARG...`. The guardian does the same steps itself between clone and exec; this form is for those
// who start a rank by other means. Why the rank never ran goes to descriptor 3. Spec stepper 2.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/base/result.h"

#include <span>
#include <string>
#include <vector>

namespace shim::stepper {

struct RankExecRequest {
  std::string cpuset, chdir;
  std::vector<std::string> command;
};
// `unknown rank-exec argument "echo"`, `--cpuset needs a value`, `missing -- command separator`,
// `no command after --`.
[[nodiscard]] Result<RankExecRequest> parse_rank_exec(std::span<char* const> args);

} // namespace shim::stepper
