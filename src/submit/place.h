#pragma once
// Partition, hosts and features to queues and `-l` entries. Pure. Spec sbatch-translate 4 and 5.

#include "slurm_shim/config/config.h"
#include "slurm_shim/ge/qsub.h"
#include "slurm_shim/submit/request.h"
#include "slurm_shim/submit/translate.h"

#include <string>
#include <vector>

namespace shim::submit {

struct Place {
  std::string name; // as asked for, or the default's; "" = none
  std::vector<std::string> queues;
  config::Partition partition; // first of the list; empty where there is none
  std::vector<std::string> warnings;
};

[[nodiscard]] Result<Place>
find_place(const Request& request, const config::Config& config, const EngineFacts& facts);

// -w and -x. A host that is no execution host is refused here: 8.1.9 takes any name in -l h=!(..).
// Of several named hosts for more nodes each must be used, which the engine cannot be asked: the
// others are chosen now, those with the most free slots, and told in `warnings`.
[[nodiscard]] Result<void> restrict_hosts(const Request& request,
                                          const EngineFacts& facts,
                                          int nodes,
                                          ge::QsubRequest& qsub,
                                          std::vector<std::string>& warnings);

// PEs of the names that `install` gives to its family: <pe>-smp, <pe>-fill, <pe>-<slots>; the map
// of a partition without pe_by_layout where qsub has no -par.
[[nodiscard]] config::PeByLayout family_by_name(const std::string& pe,
                                                const std::vector<std::string>& pes);

// A queue that serves as a partition without configuration must have the parallel environment.
[[nodiscard]] Result<void>
check_queue_has_pe(const Place& place, const EngineFacts& facts, const std::string& pe);

} // namespace shim::submit
