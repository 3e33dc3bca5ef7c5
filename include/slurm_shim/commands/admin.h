#pragma once
// The admin commands of slurm-shim. What changes anything is plan -> print -> apply; apply is the
// only writer.
// Spec install-doctor-ports.

#include "slurm_shim/context/context.h"

#include <string>
#include <vector>

namespace shim::commands {

// What an installation copies, and the names of the links to make beside it.
struct ShippedProgram {
  std::string path;
  std::vector<std::string> links;
};

// slurm-shim install: prints its plan; --apply executes it.
[[nodiscard]] int run_install(context::Context& ctx,
                              const std::vector<std::string>& words,
                              const ShippedProgram& program);

// slurm-shim config show|check: what is in effect and where it comes from; is a file right?
[[nodiscard]] int run_config(context::Context& ctx, const std::vector<std::string>& words);

// slurm-shim ports: prints firewall rules, changes nothing.
[[nodiscard]] int run_ports(context::Context& ctx, const std::vector<std::string>& words);

// slurm-shim records prune: cleans the caller's state folder (job-files 8).
[[nodiscard]] int run_records(context::Context& ctx, const std::vector<std::string>& words);

} // namespace shim::commands
