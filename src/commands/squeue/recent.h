#pragma once
// Jobs that have ended lately, for -t: Slurm remembers them for MinJobAge, Grid Engine's queue does
// not at all. What history knows of them, as lines of the queue.

#include "slurm_shim/history/history.h"
#include "slurm_shim/queue/queue.h"
#include "slurm_shim/slurm/job_id.h"

#include <string>
#include <vector>

namespace shim::commands::squeue {

inline constexpr std::int64_t k_min_job_age_s = 300; // Slurm's default

// Those that ended within MinJobAge and are not among `live`. Users: empty = everybody. Error: the
// engine's accounting could not be asked.
[[nodiscard]] Result<std::vector<queue::Job>> ended_lately(const queue::Source& source,
                                                           const std::vector<slurm::JobRef>& jobs,
                                                           const std::vector<std::string>& users,
                                                           const std::string& caller,
                                                           const std::vector<queue::Job>& live);

} // namespace shim::commands::squeue
