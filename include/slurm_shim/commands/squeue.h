#pragma once
// squeue: the queue as Slurm shows it, from qstat. Spec commands 2.

#include "slurm_shim/cli/option.h"
#include "slurm_shim/context/context.h"

#include <string>
#include <vector>

namespace shim::commands {

[[nodiscard]] cli::OptionTable squeue_options();
// `words`: the command line without argv[0]. The exit code. Loads the config itself, after the
// options that need none (--version, --help).
[[nodiscard]] int run_squeue(context::Context& ctx, const std::vector<std::string>& words);

} // namespace shim::commands
