#pragma once
// scontrol: host lists, job facts, control. Spec commands 6.

#include "slurm_shim/cli/option.h"
#include "slurm_shim/context/context.h"

#include <string>
#include <vector>

namespace shim::commands {

[[nodiscard]] cli::OptionTable scontrol_options();
// `words`: the command line without argv[0]. The exit code. Loads the config itself, after the
// options that need none (--version, --help).
[[nodiscard]] int run_scontrol(context::Context& ctx, const std::vector<std::string>& words);

} // namespace shim::commands
