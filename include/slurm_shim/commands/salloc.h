#pragma once
// salloc: a job for a command or a shell, on the job's first host. Spec commands 9, decision E10.

#include "slurm_shim/cli/option.h"
#include "slurm_shim/context/context.h"

#include <string>
#include <vector>

namespace shim::commands {

[[nodiscard]] cli::OptionTable salloc_options();
// `words`: the command line without argv[0]. The exit code. Loads the config itself, after the
// options that need none (--version, --help).
[[nodiscard]] int run_salloc(context::Context& ctx, const std::vector<std::string>& words);

} // namespace shim::commands
