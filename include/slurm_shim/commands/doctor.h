#pragma once
// slurm-shim doctor: checks an installation and says what to do about what it finds. Reads only,
// but for --probe, which submits a job of the caller's. Spec install-doctor-ports 2.

#include "slurm_shim/context/context.h"

#include <string>
#include <vector>

namespace shim::commands {

// `links`: names of the command links (from app's table of commands). Exit: 0, 1 when a check
// failed, 2 when the checks could not be run.
[[nodiscard]] int run_doctor(context::Context& ctx,
                             const std::vector<std::string>& words,
                             const std::vector<std::string>& links);

} // namespace shim::commands
