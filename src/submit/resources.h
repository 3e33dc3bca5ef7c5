#pragma once
// Everything that becomes an entry of the one `-l`: memory, GPUs, other gres, licences, temporary
// space, features, whole hosts; and the features that are only wished for. Pure. What cannot be
// asked for is refused, or told in `dropped`. Spec sbatch-translate 5, 6.2, 6.3, 6.6.

#include "gpus.h"

#include "slurm_shim/config/config.h"
#include "slurm_shim/ge/qsub.h"
#include "slurm_shim/submit/facts.h"
#include "slurm_shim/submit/request.h"

#include <string>
#include <vector>

namespace shim::submit {

struct Resources {
  std::vector<std::pair<std::string, std::string>> requests; // of -l
  std::vector<std::pair<std::string, std::string>> wishes;   // of -soft -l
  std::vector<std::string> warnings;                         // it is asked for, but not just so
  std::vector<std::string> dropped; // not asked for at all: errors under strict_flags
};

[[nodiscard]] Result<Resources> plan_resources(const Request& request,
                                               const config::Config& config,
                                               const EngineFacts& facts,
                                               const Geometry& geometry,
                                               const GpuDemand& gpus);

// --exclusive is served by taking all slots of the hosts.
[[nodiscard]] bool takes_whole_nodes(const Request& request,
                                     const config::Config& config,
                                     const config::Partition& partition);

} // namespace shim::submit
