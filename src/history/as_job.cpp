#include "slurm_shim/history/history.h"
#include "slurm_shim/slurm/hostlist.h"

#include <algorithm>

namespace shim::history {

queue::Job as_job(const Entry& entry) {
  queue::Job job;
  job.job = entry.job;
  job.id = entry.id;
  job.indices = entry.indices;
  if (entry.task) job.tasks = {*entry.task};
  job.together = entry.together;
  job.state = entry.ending.state;
  job.name = entry.name;
  job.user = entry.user;
  job.group = entry.group;
  job.account = entry.account;
  job.comment = entry.comment;
  job.partition = entry.partition;
  job.reason = entry.ending.reason.empty() ? "None" : entry.ending.reason;
  if (auto hosts = slurm::expand_hostlist(entry.hosts); hosts && !entry.hosts.empty())
    job.hosts = std::move(*hosts);
  job.submit = entry.submit;
  job.start = entry.start;
  job.ended = entry.end;
  job.limit_min = entry.limit_min;
  job.nodes = std::max(1, entry.nodes);
  job.cpus = entry.cpus;
  job.ntasks = entry.ntasks.value_or(1);
  job.exit_code = entry.ending.exit.code;
  job.exit_signal = entry.ending.exit.signal;
  job.derived_code = entry.derived.code;
  // A job that was ended from outside shows what its script made of that; sacct's row says 0:0.
  const bool from_outside = entry.ending.state == slurm::JobState::cancelled ||
                            entry.ending.state == slurm::JobState::timeout;
  if (from_outside && !entry.steps.empty() && entry.steps.front().exit) {
    job.exit_code = entry.steps.front().exit->code;
    job.exit_signal = entry.steps.front().exit->signal;
  }
  job.restarts = entry.restarts;
  job.work_dir = entry.work_dir;
  job.command = entry.command;
  job.input = entry.input;
  job.output = entry.output;
  job.error = entry.error;
  job.submit_host = entry.submit_host;
  job.dependency = entry.dependency;
  job.requeue = entry.requeue;
  return job;
}

} // namespace shim::history
