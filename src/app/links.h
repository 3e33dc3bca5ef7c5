#pragma once
// `slurm-shim links [--create DIR]`: the names users call, as relative links to slurm-shim.

#include "slurm_shim/context/context.h"

#include <string>
#include <vector>

namespace shim::app {
[[nodiscard]] int run_links(context::Context& ctx, const std::vector<std::string>& words);
} // namespace shim::app
