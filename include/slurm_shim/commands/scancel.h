#pragma once
// scancel: ends or signals jobs through qdel and the mailbox. Spec commands 3.

#include "slurm_shim/cli/option.h"
#include "slurm_shim/context/context.h"

#include <string>
#include <vector>

namespace shim::commands {

[[nodiscard]] cli::OptionTable scancel_options();
// `words`: the command line without argv[0]. The exit code. Loads the config itself, after the
// options that need none (--version, --help).
[[nodiscard]] int run_scancel(context::Context& ctx, const std::vector<std::string>& words);

} // namespace shim::commands
