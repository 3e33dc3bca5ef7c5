#include "control.h"

#include "slurm_shim/history/recent.h"
#include "slurm_shim/posix/identity.h"

#include <csignal>
#include <map>

namespace shim::commands::scontrol {

namespace {

// A job that has ended is known for as long as Slurm knows it. What was taken down shows what its
// script made of that, or the signal that it got when nothing is recorded of it.
queue::Job ended_job(const history::Entry& entry) {
  auto job = history::as_job(entry);
  const bool taken = entry.ending.state == slurm::JobState::cancelled ||
                     entry.ending.state == slurm::JobState::timeout;
  if (taken && entry.start != 0 && entry.steps.empty()) job.exit_signal = SIGTERM;
  return job;
}

} // namespace

Result<std::vector<queue::Job>> ended_jobs(context::Context& ctx,
                                           const Session& session,
                                           const std::optional<slurm::JobRef>& ref,
                                           const std::vector<queue::Job>& queued) {
  history::Request request;
  if (ref) request.jobs = {*ref};
  request.caller = posix::user_name(ctx.runner, ctx.env);
  TRY_ASSIGN(const auto past, history::ended_lately(session.source, std::move(request), queued));
  std::vector<queue::Job> jobs;
  jobs.reserve(past.size());
  for (auto entry = past.rbegin(); entry != past.rend(); ++entry)
    jobs.push_back(ended_job(*entry));
  std::map<std::string, std::optional<posix::PasswdEntry>> owners;
  for (auto& job : jobs) {
    const auto [it, fresh] = owners.try_emplace(job.user);
    if (fresh)
      if (auto owner = posix::lookup_user(ctx.runner, job.user)) it->second = std::move(*owner);
    if (!it->second) continue;
    job.uid = it->second->uid;
    job.gid = it->second->gid;
  }
  return jobs;
}

} // namespace shim::commands::scontrol
