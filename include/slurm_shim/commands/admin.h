#pragma once
// The admin commands of slurm-shim. Each is plan -> print -> apply; apply is the only writer.
// Spec install-doctor-ports.

#include "slurm_shim/context/context.h"

#include <string>
#include <vector>

namespace shim::commands {

// slurm-shim install: prints its plan; --apply executes it.
// `links`: names of the links to make beside the binary (from app's table of commands).
[[nodiscard]] int run_install(context::Context& ctx,
                              const std::vector<std::string>& words,
                              const std::vector<std::string>& links);

} // namespace shim::commands
