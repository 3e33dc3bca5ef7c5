#include "slurm_shim/queue/steps.h"

#include "control.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/date_time.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/slurm/time_limit.h"

#include <fmt/core.h>

#include <algorithm>

namespace shim::commands::scontrol {

namespace {

std::vector<std::string>
lines_of(const queue::Step& step, std::optional<std::uint32_t> uid, const std::string& start) {
  const bool batch = step.step == "batch";
  return {
      fmt::format("StepId={} UserId={} StartTime={} TimeLimit={}",
                  step.display_id(),
                  uid ? std::to_string(*uid) : "?",
                  start,
                  slurm::format_time_limit(step.limit_min)),
      fmt::format("State={} Partition={} NodeList={}",
                  slurm::long_name(step.state),
                  step.partition,
                  step.hosts),
      fmt::format("Nodes={} CPUs={} Tasks={} Name={} Network=(null)",
                  step.nodes,
                  batch ? 0 : step.cpus,
                  step.tasks,
                  step.name),
      batch ? "TRES=(null)" : fmt::format("TRES=cpu={},mem=0,node={}", step.cpus, step.nodes),
      "ResvPorts=(null)",
      "CPUFreqReq=Default",
      "SrunHost:Pid=(null):0",
  };
}

} // namespace

int show_steps(context::Context& ctx, const Settings& settings, Words words) {
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  const Session session(ctx);
  queue::Request request;
  request.facts = true;
  std::optional<slurm::JobRef> ref;
  if (!words.empty()) {
    auto parsed = slurm::parse_job_id(words[0]);
    if (!parsed) {
      tell(ctx, settings, "slurm_get_job_steps error: Invalid job id specified");
      return slurm::k_exit_failure;
    }
    ref = std::move(*parsed);
    request.jobs = {ref->job};
  }
  auto jobs = queue::load(session.source, request);
  if (!jobs) return ctx.fail(jobs.error());
  if (ref) std::erase_if(*jobs, [&](const auto& job) { return !queue::matches(*ref, job); });
  if (ref && jobs->empty()) {
    tell(ctx, settings, "slurm_get_job_steps error: Invalid job id specified");
    return slurm::k_exit_failure;
  }
  bool any = false;
  for (const auto& job : *jobs)
    for (const auto& step : queue::steps_of(session.source, {job})) {
      if (ref && !ref->step.empty() && step.step != ref->step) continue;
      any = true;
      const auto start = slurm::format_date_time(
          step.start, ctx.env.get_or("SLURM_TIME_FORMAT", ""), session.source.now);
      ctx.out.write(join(lines_of(step, job.uid, start), settings.oneliner ? " " : "\n   "));
      ctx.out.write(settings.oneliner ? "\n" : "\n\n");
    }
  if (any) return slurm::k_exit_ok;
  if (ref && !ref->step.empty() && !settings.quiet)
    ctx.out.write("Job step " + words[0] + " not found\n");
  else if (!settings.quiet)
    ctx.out.write("No job steps in the system\n");
  return ref ? slurm::k_exit_failure : slurm::k_exit_ok;
}

} // namespace shim::commands::scontrol
