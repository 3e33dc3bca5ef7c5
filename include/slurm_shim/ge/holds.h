#pragma once
// Ends the wait of a pending job for another one before that has ended, which the engine's own hold
// cannot. Callers: the PE hook of the job that starts, sbatch. Spec sbatch-translate 6.5.

#include "slurm_shim/base/result.h"
#include "slurm_shim/ge/tools.h"

#include <cstdint>
#include <string>
#include <vector>

namespace shim::ge {

struct WaitingJob {
  std::uint64_t job = 0;
  std::int64_t not_before = 0; // unix seconds, 0 = at once
};

// For `qalter -hold_jid`: the jobs that are left to wait for; a number that no job has when there
// is none (an empty word is refused by OCS 9.1.5, and unknown numbers count as fulfilled). Pure.
[[nodiscard]] std::string remaining_holds(const std::vector<std::uint64_t>& holds,
                                          std::uint64_t without);

// `predecessor` is no longer waited for. A job that is gone is fine. Errors: the engine could not
// be asked, or it refused (a host that may not submit).
[[nodiscard]] Result<void>
release_from(const Tools& tools, const std::vector<WaitingJob>& jobs, std::uint64_t predecessor);

} // namespace shim::ge
