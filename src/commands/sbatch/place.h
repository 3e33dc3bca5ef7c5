#pragma once
// Partition, hosts and features to queues and `-l` entries. Pure. Spec sbatch-translate 4 and 5.

#include "request.h"
#include "translate.h"

#include "slurm_shim/config/config.h"
#include "slurm_shim/ge/qsub.h"

#include <string>
#include <vector>

namespace shim::commands::sbatch {

struct Place {
  std::string name; // as asked for, or the default's; "" = none
  std::vector<std::string> queues;
  config::Partition partition; // first of the list; empty where there is none
  std::vector<std::string> warnings;
};

[[nodiscard]] Result<Place>
find_place(const Request& request, const config::Config& config, const EngineFacts& facts);

// -w and -x. A host that is no execution host is refused here: 8.1.9 takes any name in -l h=!(..).
[[nodiscard]] Result<void>
restrict_hosts(const Request& request, const EngineFacts& facts, int nodes, ge::QsubRequest& qsub);
// -C, -L, --gres other than gpu, --exclusive.
[[nodiscard]] Result<void> add_resources(const Request& request,
                                         const config::Config& config,
                                         ge::QsubRequest& qsub,
                                         std::vector<std::string>& warnings);
// --mem*; `slots_per_node` 0 = not known.
void add_memory(const Memory& memory,
                const config::Config& config,
                const EngineFacts& facts,
                const Geometry& geometry,
                int slots_per_node,
                ge::QsubRequest& qsub,
                std::vector<std::string>& warnings);

} // namespace shim::commands::sbatch
