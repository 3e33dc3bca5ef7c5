#include "control.h"

#include "slurm_shim/history/history.h"
#include "slurm_shim/posix/identity.h"

#include <csignal>
#include <ranges>

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

Result<std::vector<queue::Job>>
ended_jobs(context::Context& ctx, const Session& session, const slurm::JobRef& ref) {
  constexpr std::int64_t k_min_job_age = 300;
  history::Request request;
  request.jobs = {ref};
  request.caller = posix::user_name(ctx.runner, ctx.env);
  request.live = false;
  TRY_ASSIGN(const auto past, history::load(session.source, request));
  std::vector<queue::Job> jobs;
  for (const auto& entry : std::views::reverse(past.entries))
    if (entry.live || session.source.now - entry.end <= k_min_job_age)
      jobs.push_back(ended_job(entry));
  for (auto& job : jobs)
    if (const auto owner = posix::lookup_user(ctx.runner, job.user)) {
      job.uid = owner->uid;
      job.gid = owner->gid;
    }
  return jobs;
}

} // namespace shim::commands::scontrol
