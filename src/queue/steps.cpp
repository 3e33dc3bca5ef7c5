#include "slurm_shim/queue/steps.h"

#include "slurm_shim/queue/targets.h"
#include "slurm_shim/records/job_record.h"
#include "slurm_shim/slurm/hostlist.h"

#include <algorithm>

namespace shim::queue {

namespace {

Step step_in(const Job& job, std::string name) {
  Step step;
  step.step = std::move(name);
  step.job_id = display_id(job);
  step.job = job.job;
  step.id = job.id;
  step.partition = job.partition;
  step.user = job.user;
  step.state = job.state;
  step.start = job.start;
  return step;
}

Step recorded(const Job& job, const records::StepStartEvent& event) {
  auto step = step_in(job, std::to_string(event.step));
  step.name = event.name;
  step.hosts = event.hosts;
  step.start = event.t_ms / 1000;
  step.nodes = event.nodes;
  step.tasks = event.ntasks;
  step.cpus = event.cpus;
  return step;
}

Step batch(const Job& job) {
  auto step = step_in(job, "batch");
  step.name = "batch";
  step.hosts = job.hosts.empty() ? "" : job.hosts.front();
  return step;
}

} // namespace

std::vector<Step> steps_of(const Source& source, const std::vector<Job>& jobs) {
  std::vector<Step> steps;
  for (const auto& job : jobs) {
    if (job.pending() || !slurm::is_live(job.state)) continue;
    if (source.state && job.record) {
      const auto start = job.start > 0 ? std::optional(job.start) : std::nullopt;
      if (const auto record = records::read_job_record(*source.state, record_key(job), start))
        for (const auto& step : record->steps)
          if (!step.end) steps.push_back(recorded(job, step.start));
    }
    steps.push_back(batch(job));
  }
  return steps;
}

} // namespace shim::queue
