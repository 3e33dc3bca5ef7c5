#pragma once
// sinfo: partitions and nodes, from Grid Engine's hosts and queue instances. Spec commands 5,
// vectors/08.

#include "slurm_shim/cli/option.h"
#include "slurm_shim/context/context.h"

#include <string>
#include <vector>

namespace shim::commands {

[[nodiscard]] cli::OptionTable sinfo_options();
// `words`: everything behind the command's name. The exit code; errors have been told.
[[nodiscard]] int run_sinfo(context::Context& ctx, const std::vector<std::string>& words);

} // namespace shim::commands
