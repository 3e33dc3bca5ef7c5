#pragma once
// sacct: what happened to jobs, from Grid Engine's accounting, its queue and the job records. Spec
// commands 4, vectors/09.

#include "slurm_shim/cli/option.h"
#include "slurm_shim/context/context.h"

#include <string>
#include <vector>

namespace shim::commands {

[[nodiscard]] cli::OptionTable sacct_options();
// `words`: everything behind the command's name. The exit code; errors have been told.
[[nodiscard]] int run_sacct(context::Context& ctx, const std::vector<std::string>& words);

} // namespace shim::commands
