#pragma once
// sbatch: script and options to one qsub. Spec sbatch-translate.

#include "slurm_shim/cli/option.h"
#include "slurm_shim/context/context.h"

#include <string>
#include <vector>

namespace shim::commands {

[[nodiscard]] cli::OptionTable sbatch_options();
// `words`: the command line without argv[0]. The exit code. Loads the config itself, after the
// options that need none (--version, --help).
[[nodiscard]] int run_sbatch(context::Context& ctx, const std::vector<std::string>& words);

// `slurm-shim explain [--json] sbatch ...`: tells what would be submitted, submits nothing.
[[nodiscard]] int run_explain(context::Context& ctx, const std::vector<std::string>& words);

} // namespace shim::commands
