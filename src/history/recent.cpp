#include "slurm_shim/history/recent.h"

#include <algorithm>
#include <set>
#include <utility>

namespace shim::history {

Result<std::vector<Entry>>
ended_lately(const queue::Source& source, Request request, const std::vector<queue::Job>& queued) {
  request.from = source.now - k_min_job_age_s;
  request.live = false; // the queue has been asked
  std::set<std::pair<std::uint64_t, std::uint32_t>> there;
  for (const auto& job : queued) {
    if (job.indices.empty()) there.emplace(job.job, 0);
    for (const auto index : job.indices)
      there.emplace(job.job, index + 1);
  }
  const auto is_there = [&](const Entry& entry) {
    if (entry.indices.empty()) return there.contains({entry.job, 0});
    return std::ranges::any_of(entry.indices, [&](auto index) {
      return there.contains({entry.job, index + 1});
    });
  };
  const auto from = request.from;
  TRY_ASSIGN(auto history, load(source, request));
  std::erase_if(history.entries, [&](const Entry& entry) {
    return entry.earlier || (!entry.live && entry.end < from) || is_there(entry);
  });
  return std::move(history.entries);
}

} // namespace shim::history
