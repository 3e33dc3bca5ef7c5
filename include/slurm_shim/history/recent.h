#pragma once
// Jobs that have ended lately: Slurm remembers them for MinJobAge, Grid Engine's queue does not at
// all. Callers: squeue -t, scontrol show job.

#include "slurm_shim/history/history.h"

#include <cstdint>
#include <string>
#include <vector>

namespace shim::history {

inline constexpr std::int64_t k_min_job_age_s = 300; // Slurm's default

// What of the request (its jobs, users, caller, steps) ended within MinJobAge, and what is neither
// in the queue nor in accounting yet (Entry::live), without what is among `queued`. Error: the
// engine's accounting could not be asked.
[[nodiscard]] Result<std::vector<Entry>>
ended_lately(const queue::Source& source, Request request, const std::vector<queue::Job>& queued);

} // namespace shim::history
