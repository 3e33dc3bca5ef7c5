#include "recent.h"

#include <algorithm>
#include <set>

namespace shim::commands::squeue {

Result<std::vector<queue::Job>> ended_lately(const queue::Source& source,
                                             const std::vector<slurm::JobRef>& jobs,
                                             const std::vector<std::string>& users,
                                             const std::string& caller,
                                             const std::vector<queue::Job>& live) {
  history::Request request;
  request.jobs = jobs;
  request.users = users;
  request.caller = caller;
  request.from = source.now - k_min_job_age_s;
  request.steps = false;
  request.live = false; // the queue has been asked
  std::set<std::pair<std::uint64_t, std::uint32_t>> there;
  for (const auto& job : live) {
    if (job.indices.empty()) there.emplace(job.job, 0);
    for (const auto index : job.indices)
      there.emplace(job.job, index + 1);
  }
  const auto is_there = [&](const history::Entry& entry) {
    if (entry.indices.empty()) return there.contains({entry.job, 0});
    return std::ranges::any_of(entry.indices, [&](auto index) {
      return there.contains({entry.job, index + 1});
    });
  };
  TRY_ASSIGN(const auto history, history::load(source, request));
  std::vector<queue::Job> lines;
  for (const auto& entry : history.entries)
    if (!entry.live && !entry.earlier && entry.end >= request.from && !is_there(entry))
      lines.push_back(history::as_job(entry));
  return lines;
}

} // namespace shim::commands::squeue
