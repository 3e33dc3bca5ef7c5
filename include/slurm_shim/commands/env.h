#pragma once
// slurm-shim-env: the PE hook that fabricates a job's SLURM_* environment. Spec environment,
// job-files 4 ("Hook"). In hook mode it never exits non-zero.

#include "slurm_shim/context/context.h"

#include <string>
#include <vector>

namespace shim::commands {

// `words`: nothing (hook mode), --export or --cleanup.
[[nodiscard]] int run_env(context::Context& ctx, const std::vector<std::string>& words);

} // namespace shim::commands
