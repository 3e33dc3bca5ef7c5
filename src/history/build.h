#pragma once
// One row of history from each of its sources.

#include "submission.h"

#include "slurm_shim/history/history.h"

namespace shim::history {

struct Sources {
  const queue::Source& engine;
  Submissions& submissions;
  const Request& request;
};

// A run that accounting knows. `slaves`: usage of its remote tasks, when they have records.
[[nodiscard]] Entry of_accounting(const Sources& from, const ge::AccountingRecord& record);
// A run that was requeued, of a job that the queue does not list: it was cancelled there, or is on
// its way back and has not ended.
void settle_requeued(const Sources& from, Entry& entry);
// A line of the queue.
[[nodiscard]] Entry of_queue(const Sources& from, const queue::Job& job);
// Jobs and elements that sbatch submitted and that neither the queue nor accounting lists.
// `covered`: whether another source tells about the engine's task (0 = the whole job).
[[nodiscard]] std::vector<Entry> of_submission(const Sources& from,
                                               const Submission& submission,
                                               const std::vector<std::uint32_t>& covered);

} // namespace shim::history
