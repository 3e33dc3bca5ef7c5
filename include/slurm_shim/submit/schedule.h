#pragma once
// When a job may start and how long it may run: --time within the partition's limits, --begin,
// --deadline, --signal's lead, --dependency. Pure: what the engine knows of the predecessors comes
// with the facts. The result of a predecessor is judged where the job starts (fabricate/
// dependency.h), not here. Callers: translate, scontrol update. Spec
// sbatch-translate 6.1, 6.4, 6.5; decisions E4, E11, E12.

#include "slurm_shim/config/config.h"
#include "slurm_shim/submit/request.h"
#include "slurm_shim/submit/translate.h"

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

namespace shim::submit {

struct Schedule {
  std::optional<std::uint32_t> minutes; // h_rt; nothing: no limit
  std::optional<std::time_t> begin;     // only when it lies ahead
  std::vector<std::string> hold_jobs;   // for -hold_jid: numbers, or the job's own name
  std::vector<std::string> hold_array_jobs;
  // Among hold_jobs: those whose hook takes them out again at their start (--dependency=after).
  std::vector<StartWait> wait_for_starts;
  std::vector<std::string> unknown; // predecessors that nobody knows: they count as fulfilled
  std::vector<std::string> warnings;
};

// `name`: the job's, as the engine gets it. Errors carry complete lines (refusal.h).
[[nodiscard]] Result<Schedule> plan_schedule(const Request& request,
                                             const config::Config& config,
                                             const config::Partition& partition,
                                             const EngineFacts& facts,
                                             const std::string& name,
                                             std::time_t now);

} // namespace shim::submit
