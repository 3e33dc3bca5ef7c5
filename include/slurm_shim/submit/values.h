#pragma once
// Option values that come from a command's input variables, as its table names them. Pure.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/cli/option.h"
#include "slurm_shim/cli/parse.h"

#include <vector>

namespace shim::submit {

// One for each option of which a variable is set. A switch is on when the variable is there;
// --verbose takes its level from it.
[[nodiscard]] std::vector<cli::Given> environment_values(cli::OptionTable table,
                                                         const EnvList& env);

} // namespace shim::submit
