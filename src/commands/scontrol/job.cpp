#include "control.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/base/yaml.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/queue/document.h"
#include "slurm_shim/queue/shown.h"
#include "slurm_shim/slurm/date_time.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/slurm/hostlist.h"
#include "slurm_shim/slurm/time_limit.h"
#include "slurm_shim/slurm/words.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace shim::commands::scontrol {

namespace {

std::string time_or(std::int64_t when, std::string_view none = "Unknown") {
  return when > 0 ? slurm::format_date_time(when) : std::string(none);
}

std::string ids_of(const queue::Job& job, const queue::ArrayWidth& width) {
  std::string text = fmt::format("JobId={}", job.id);
  if (!job.array()) return text;
  text += fmt::format(" ArrayJobId={} ArrayTaskId={}", job.job, queue::display_index(job, width));
  if (job.throttle != 0) text += fmt::format(" ArrayTaskThrottle={}", job.throttle);
  return text;
}

std::string owner(std::string_view name, std::optional<std::uint32_t> number) {
  return fmt::format("{}({})", name, number ? std::to_string(*number) : "?");
}

std::vector<std::string> times_of(const queue::Job& job, std::int64_t now) {
  const auto eligible = job.held() ? 0 : std::max(job.begin, job.submit);
  const auto until = job.ended > 0 ? job.ended : now;
  const auto run =
      job.start > 0 && !job.pending() ? std::max<std::int64_t>(0, until - job.start) : 0;
  const auto end = job.ended > 0 ? job.ended : job.end();
  return {
      fmt::format("RunTime={} TimeLimit={} TimeMin=N/A",
                  slurm::format_duration(run),
                  slurm::format_time_limit(job.limit_min)),
      fmt::format("SubmitTime={} EligibleTime={}", time_or(job.submit), time_or(eligible)),
      fmt::format("AccrueTime={}", time_or(eligible)),
      fmt::format("StartTime={} EndTime={} Deadline=N/A", time_or(job.start), time_or(end)),
      fmt::format("SuspendTime=None SecsPreSuspend=0 LastSchedEval={} Scheduler=Main",
                  time_or(job.start > 0 ? job.start : job.submit)),
  };
}

// "MinMemoryNode=2G" or "MinMemoryCPU=500M".
std::string memory_line(const queue::Job& job) {
  const bool per_cpu = job.asked("memper") == "cpu";
  return (per_cpu ? "MinMemoryCPU=" : "MinMemoryNode=") + queue::memory_of(job);
}

std::vector<std::string> resources_of(const queue::Job& job) {
  std::vector<std::string> lines{
      fmt::format("ReqNodeList={} ExcNodeList={}",
                  slurm::or_null(job.requested_hosts),
                  slurm::or_null(job.excluded_hosts)),
      "NodeList=" + slurm::compress_hostlist(job.hosts),
  };
  if (!job.hosts.empty()) lines.push_back("BatchHost=" + job.hosts.front());
  lines.push_back(fmt::format("NumNodes={} NumCPUs={} NumTasks={} CPUs/Task={} ReqB:S:C:T=0:0:*:*",
                              job.nodes,
                              job.cpus,
                              job.ntasks,
                              job.cpus_per_task));
  lines.push_back("TRES=" + queue::tres_of(job));
  lines.push_back(
      fmt::format("Socks/Node=* NtasksPerN:B:S:C={}:0:*:* CoreSpec=*", job.tasks_per_node));
  lines.push_back(fmt::format("MinCPUsNode={} {} MinTmpDiskNode=0",
                              job.cpus_per_task * std::max(1, job.tasks_per_node),
                              memory_line(job)));
  return lines;
}

std::vector<std::string>
lines_of(const queue::Job& job, std::int64_t now, const queue::ArrayWidth& width) {
  std::string reason = job.reason;
  std::ranges::replace(reason, ' ', '_');
  std::vector<std::string> lines{
      ids_of(job, width) + " JobName=" + job.name,
      fmt::format("UserId={} GroupId={} MCS_label=N/A",
                  owner(job.user, job.uid),
                  owner(job.group, job.gid)),
      fmt::format("Priority={} Nice={} Account={} QOS={}",
                  std::lround(job.priority * 100000),
                  job.asked("nice").empty() ? "0" : job.asked("nice"),
                  slurm::or_null(job.account),
                  job.asked("qos").empty() ? "normal" : job.asked("qos")),
      fmt::format("JobState={} Reason={} Dependency={}",
                  slurm::long_name(job.state),
                  reason,
                  slurm::or_null(job.dependency)),
      fmt::format("Requeue={} Restarts={} BatchFlag=1 Reboot=0 ExitCode={}:{}",
                  job.requeue ? 1 : 0,
                  job.restarts,
                  job.exit_code,
                  job.exit_signal),
  };
  const auto append = [&](std::vector<std::string> more) {
    lines.insert(lines.end(), more.begin(), more.end());
  };
  append(times_of(job, now));
  lines.push_back(fmt::format("Partition={} AllocNode:Sid={}:0",
                              job.partition,
                              job.submit_host.empty() ? "N/A" : job.submit_host));
  append(resources_of(job));
  append({"Features=(null) DelayBoot=00:00:00",
          "OverSubscribe=OK Contiguous=0 Licenses=(null) Network=(null)",
          "Command=" + slurm::or_null(job.command),
          "WorkDir=" + slurm::or_null(job.work_dir)});
  if (!job.comment.empty()) lines.push_back("Comment=" + job.comment);
  append({"StdErr=" + queue::file_of(job, job.error),
          "StdIn=" + job.input,
          "StdOut=" + queue::file_of(job, job.output),
          "Power=",
          ""});
  return lines;
}

void print_jobs(context::Context& ctx,
                const Settings& settings,
                const std::vector<queue::Job>& jobs,
                std::int64_t now) {
  if (settings.json || settings.yaml) {
    std::vector<const queue::Job*> list;
    list.reserve(jobs.size());
    for (const auto& job : jobs)
      list.push_back(&job);
    const auto text = queue::jobs_document(list,
                                           {.version = ctx.config.compat_version,
                                            .user = posix::user_name(ctx.runner, ctx.env),
                                            .words = {"scontrol", "show", "job"},
                                            .cluster = ctx.env.get_or("SGE_CELL", "default"),
                                            .now = now});
    ctx.out.write(settings.json ? text : json_to_yaml(text));
    return;
  }
  const auto width = queue::array_width(ctx.env);
  for (const auto& job : jobs) {
    ctx.out.write(join(lines_of(job, now, width), settings.oneliner ? " " : "\n   "));
    ctx.out.write(settings.oneliner ? "\n" : "\n\n");
  }
}

int not_found(const context::Context& ctx,
              const Settings& settings,
              const slurm::JobRef& ref,
              std::string_view word) {
  if (ref.indices.empty()) // a number, though it may be that of an element
    tell(ctx, settings, "slurm_load_jobs error: Invalid job id specified");
  else if (!settings.quiet)
    ctx.out.write(fmt::format("Job {} not found\n", word));
  return slurm::k_exit_failure;
}

} // namespace

int show_job(context::Context& ctx, const Settings& settings, Words words) {
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  std::optional<slurm::JobRef> ref;
  if (!words.empty()) {
    auto parsed = slurm::parse_job_id(words[0]);
    if (!parsed) {
      tell(ctx, settings, "scontrol_print_job error: Invalid job id specified");
      return slurm::k_exit_failure;
    }
    ref = std::move(*parsed);
  }
  Session session(ctx);
  queue::Request request{
      .users = {}, .jobs = {}, .split_arrays = false, .facts = true, .partitions = true};
  if (ref) request.jobs = {ref->job};
  // One element that still waits with others is shown on its own.
  request.split_arrays = ref && (ref->element || !ref->indices.empty());
  auto jobs = queue::load(session.source, request);
  if (!jobs) return ctx.fail(jobs.error());
  if (ref) std::erase_if(*jobs, [&](const auto& job) { return !queue::matches(*ref, job); });
  if (jobs->empty() && ref) {
    jobs = ended_jobs(ctx, session, *ref);
    if (!jobs) return ctx.fail(jobs.error());
  }
  if (jobs->empty() && ref) return not_found(ctx, settings, *ref, words[0]);
  const bool document = settings.json || settings.yaml;
  if (jobs->empty() && !document) ctx.out.write("No jobs in the system\n");
  print_jobs(ctx, settings, *jobs, session.source.now);
  return slurm::k_exit_ok;
}

} // namespace shim::commands::scontrol
