#include "control.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/base/yaml.h"
#include "slurm_shim/ge/cell.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/queue/document.h"
#include "slurm_shim/queue/shown.h"
#include "slurm_shim/queue/targets.h"
#include "slurm_shim/records/job_record.h"
#include "slurm_shim/slurm/date_time.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/slurm/hostlist.h"
#include "slurm_shim/slurm/time_limit.h"
#include "slurm_shim/slurm/words.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

namespace shim::commands::scontrol {

namespace {

// How jobs are printed.
struct Style {
  queue::ArrayWidth width;
  std::string time_format; // SLURM_TIME_FORMAT
  std::int64_t now = 0;
  bool details = false;
};

std::string time_or_unknown(std::int64_t when, const Style& style) {
  return when > 0 ? slurm::format_date_time(when, style.time_format, style.now) : "Unknown";
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

std::vector<std::string> times_of(const queue::Job& job, const Style& style) {
  const auto time = [&](std::int64_t when) { return time_or_unknown(when, style); };
  const auto eligible = job.held() ? 0 : std::max(job.begin, job.submit);
  return {
      fmt::format("RunTime={} TimeLimit={} TimeMin=N/A",
                  slurm::format_duration(queue::seconds_used(job, style.now)),
                  slurm::format_time_limit(job.limit_min)),
      fmt::format("SubmitTime={} EligibleTime={}", time(job.submit), time(eligible)),
      fmt::format("AccrueTime={}", time(eligible)),
      fmt::format("StartTime={} EndTime={} Deadline=N/A",
                  time(queue::start_of(job, style.now)),
                  time(queue::end_of(job))),
      fmt::format("SuspendTime=None SecsPreSuspend=0 LastSchedEval={} Scheduler=Main",
                  time(job.start > 0 ? job.start : job.submit)),
  };
}

// "MinMemoryNode=2G" or "MinMemoryCPU=500M".
std::string memory_line(const queue::Job& job) {
  const bool per_cpu = job.asked("memper") == "cpu";
  return (per_cpu ? "MinMemoryCPU=" : "MinMemoryNode=") + queue::memory_of(job);
}

std::string devices(const queue::Job& job, int count) {
  if (count == 0) return "";
  const auto type = job.asked("gtype");
  return fmt::format("gpu:{}{}", type.empty() ? "" : type + ":", count);
}

// What lies on which hosts, those with the same in one line. Which of their CPUs and devices were
// bound is not told to us.
std::vector<std::string> shares_text(const queue::Job& job) {
  std::vector<std::string> lines;
  if (job.pending() || job.hosts.empty()) return lines;
  lines.push_back("JOB_GRES=" + slurm::or_null(devices(job, queue::gpus_of(job))));
  const auto shares = queue::shares_of(job);
  for (auto first = shares.begin(); first != shares.end();) {
    const auto last =
        std::find_if_not(first, shares.end(), [&](const auto& s) { return s.is_like(*first); });
    std::vector<std::string> hosts;
    for (auto it = first; it != last; ++it)
      hosts.push_back(it->host);
    lines.push_back(fmt::format("  Nodes={} CPU_IDs=N/A Mem={} GRES={}",
                                slurm::compress_hostlist(hosts),
                                first->memory_mib,
                                devices(job, first->gpus)));
    first = last;
  }
  return lines;
}

std::vector<std::string> resources_of(const queue::Job& job, const Style& style) {
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
  if (style.details)
    for (auto& line : shares_text(job))
      lines.push_back(std::move(line));
  lines.push_back(fmt::format("MinCPUsNode={} {} MinTmpDiskNode=0",
                              job.cpus_per_task * std::max(1, job.tasks_per_node),
                              memory_line(job)));
  return lines;
}

std::vector<std::string> lines_of(const queue::Job& job, const Style& style) {
  std::string reason = job.reason;
  std::ranges::replace(reason, ' ', '_');
  std::vector<std::string> lines{
      ids_of(job, style.width) + " JobName=" + job.name,
      fmt::format("UserId={} GroupId={} MCS_label=N/A",
                  owner(job.user, job.uid),
                  owner(job.group, job.gid)),
      fmt::format("Priority={} Nice={} Account={} QOS={}",
                  queue::priority_number(job),
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
  if (style.details) lines.push_back(fmt::format("DerivedExitCode={}:0", job.derived_code));
  append(times_of(job, style));
  lines.push_back(fmt::format("Partition={} AllocNode:Sid={}:0",
                              job.partition,
                              job.submit_host.empty() ? "N/A" : job.submit_host));
  append(resources_of(job, style));
  append({"Features=" + slurm::or_null(job.asked("feat")) + " DelayBoot=00:00:00",
          fmt::format("OverSubscribe={} Contiguous=0 Licenses={} Network=(null)",
                      job.asked("excl") == "1" ? "NO" : "OK",
                      slurm::or_null(job.asked("lic"))),
          "Command=" + slurm::or_null(job.command),
          "WorkDir=" + slurm::or_null(job.work_dir)});
  if (!job.comment.empty()) lines.push_back("Comment=" + job.comment);
  append({"StdErr=" + queue::file_of(job, job.error),
          "StdIn=" + job.input,
          "StdOut=" + queue::file_of(job, job.output),
          "Power="});
  const auto add_devices = [&](std::string_view name, const std::string& asked) {
    if (!asked.empty()) lines.push_back(std::string(name) + "=" + asked);
  };
  add_devices("TresPerJob", queue::gpus_asked(job, "gpus"));
  add_devices("TresPerNode", queue::gres_per_node(job));
  add_devices("TresPerTask", queue::gpus_asked(job, "gpt"));
  lines.emplace_back();
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
                                            .cluster = ge::cluster_name(ctx.env),
                                            .now = now});
    ctx.out.write(settings.json ? text : json_to_yaml(text));
    return;
  }
  const Style style{.width = queue::array_width(ctx.env),
                    .time_format = ctx.env.get_or("SLURM_TIME_FORMAT", ""),
                    .now = now,
                    .details = settings.details};
  for (const auto& job : jobs) {
    ctx.out.write(join(lines_of(job, style), settings.oneliner ? " " : "\n   "));
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

// The highest exit code of the steps that have ended in a running job.
int derived_so_far(const queue::Source& source, const queue::Job& job) {
  int code = 0;
  if (!source.state || !job.record || job.pending()) return code;
  const auto start = job.start > 0 ? std::optional(job.start) : std::nullopt;
  if (const auto record = records::read_job_record(*source.state, queue::record_key(job), start))
    for (const auto& step : record->steps)
      if (step.end) code = std::max(code, step.end->max_code);
  return code;
}

// A job that is in the queue has not ended, though elements of its array may have.
bool wants_ended(const std::optional<slurm::JobRef>& ref, const std::vector<queue::Job>& queued) {
  if (!ref || queued.empty()) return true;
  return queued.front().array() && !ref->element && ref->indices.empty();
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
  queue::Request request{.users = {},
                         .jobs = {},
                         .split_arrays = false,
                         .facts = true,
                         .starts = true,
                         .partitions = true};
  if (ref) request.jobs = {ref->job};
  // One element that still waits with others is shown on its own.
  request.split_arrays = ref && (ref->element || !ref->indices.empty());
  auto jobs = queue::load(session.source, request);
  if (!jobs) return ctx.fail(jobs.error());
  if (ref) std::erase_if(*jobs, [&](const auto& job) { return !queue::matches(*ref, job); });
  for (auto& job : *jobs)
    if (settings.details) job.derived_code = derived_so_far(session.source, job);
  if (wants_ended(ref, *jobs)) {
    auto ended = ended_jobs(ctx, session, ref, *jobs);
    if (!ended && jobs->empty() && ref) return ctx.fail(ended.error());
    if (!ended)
      ctx.warning("jobs that have ended are not shown: " + ended.error().message);
    else
      std::ranges::move(*ended, std::back_inserter(*jobs));
  }
  if (jobs->empty() && ref) return not_found(ctx, settings, *ref, words[0]);
  const bool document = settings.json || settings.yaml;
  if (jobs->empty() && !document) ctx.out.write("No jobs in the system\n");
  print_jobs(ctx, settings, *jobs, session.source.now);
  return slurm::k_exit_ok;
}

} // namespace shim::commands::scontrol
