#include "scontrol.h"
#include "session.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/slurm/date_time.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/slurm/hostlist.h"
#include "slurm_shim/slurm/time_limit.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace shim::commands::scontrol {

namespace {

std::string time_or(std::int64_t when, std::string_view none = "Unknown") {
  return when > 0 ? slurm::format_date_time(when) : std::string(none);
}

std::string or_null(const std::string& text) {
  return text.empty() ? "(null)" : text;
}

std::string ids_of(const queue::Job& job) {
  std::string text = fmt::format("JobId={}", job.id);
  if (!job.array()) return text;
  text += fmt::format(" ArrayJobId={} ArrayTaskId={}", job.job, queue::display_index(job));
  if (job.throttle != 0) text += fmt::format(" ArrayTaskThrottle={}", job.throttle);
  return text;
}

std::string owner(std::string_view name, std::optional<std::uint32_t> number) {
  return fmt::format("{}({})", name, number ? std::to_string(*number) : "?");
}

// Slurm's patterns of output files, as far as they do not depend on the host that runs.
std::string file_of(const queue::Job& job, const std::string& pattern) {
  std::string out;
  const std::string index =
      job.array() && job.indices.size() == 1 ? std::to_string(job.indices[0]) : "4294967294";
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      out += pattern[i];
      continue;
    }
    switch (const char verb = pattern[++i]) {
    case 'j': out += std::to_string(job.id); break;
    case 'A': out += std::to_string(job.job); break;
    case 'a': out += index; break;
    case 'x': out += job.name; break;
    case 'u': out += job.user; break;
    case '%': out += '%'; break;
    default: out += {'%', verb};
    }
  }
  return out.empty() ? "" : posix::absolute(out, job.work_dir);
}

std::vector<std::string> times_of(const queue::Job& job, std::int64_t now) {
  const bool held = job.reason.starts_with("JobHeld") || job.reason == "Dependency";
  const auto eligible = held ? 0 : std::max(job.begin, job.submit);
  const auto run = job.start > 0 && !job.pending() ? std::max<std::int64_t>(0, now - job.start) : 0;
  return {
      fmt::format("RunTime={} TimeLimit={} TimeMin=N/A",
                  slurm::format_duration(run),
                  slurm::format_time_limit(job.limit_min)),
      fmt::format("SubmitTime={} EligibleTime={}", time_or(job.submit), time_or(eligible)),
      fmt::format("AccrueTime={}", time_or(eligible)),
      fmt::format("StartTime={} EndTime={} Deadline=N/A", time_or(job.start), time_or(job.end())),
      fmt::format("SuspendTime=None SecsPreSuspend=0 LastSchedEval={} Scheduler=Main",
                  time_or(job.start > 0 ? job.start : job.submit)),
  };
}

std::vector<std::string> resources_of(const queue::Job& job) {
  std::vector<std::string> lines{
      fmt::format("ReqNodeList={} ExcNodeList={}",
                  or_null(job.requested_hosts),
                  or_null(job.excluded_hosts)),
      "NodeList=" + slurm::compress_hostlist(job.hosts),
  };
  if (!job.hosts.empty()) lines.push_back("BatchHost=" + job.hosts.front());
  lines.push_back(fmt::format("NumNodes={} NumCPUs={} NumTasks={} CPUs/Task={} ReqB:S:C:T=0:0:*:*",
                              job.nodes,
                              job.cpus,
                              job.ntasks,
                              job.cpus_per_task));
  lines.push_back(fmt::format("TRES=cpu={},node={},billing={}", job.cpus, job.nodes, job.cpus));
  lines.push_back(
      fmt::format("Socks/Node=* NtasksPerN:B:S:C={}:0:*:* CoreSpec=*", job.tasks_per_node));
  lines.push_back(fmt::format("MinCPUsNode={} MinMemoryNode=0 MinTmpDiskNode=0",
                              job.cpus_per_task * std::max(1, job.tasks_per_node)));
  return lines;
}

std::vector<std::string> lines_of(const queue::Job& job, std::int64_t now) {
  std::string reason = job.reason;
  std::ranges::replace(reason, ' ', '_');
  std::vector<std::string> lines{
      ids_of(job) + " JobName=" + job.name,
      fmt::format("UserId={} GroupId={} MCS_label=N/A",
                  owner(job.user, job.uid),
                  owner(job.group, job.gid)),
      fmt::format("Priority={} Nice=0 Account={} QOS=normal",
                  std::lround(job.priority * 100000),
                  or_null(job.account)),
      fmt::format("JobState={} Reason={} Dependency={}",
                  slurm::long_name(job.state),
                  reason,
                  or_null(job.dependency)),
      fmt::format("Requeue={} Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0", job.requeue ? 1 : 0),
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
          "Command=" + or_null(job.command),
          "WorkDir=" + or_null(job.work_dir)});
  if (!job.comment.empty()) lines.push_back("Comment=" + job.comment);
  append({"StdErr=" + file_of(job, job.error),
          "StdIn=" + job.input,
          "StdOut=" + file_of(job, job.output),
          "Power=",
          ""});
  return lines;
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
  queue::Request request{.users = {}, .jobs = {}, .split_arrays = false, .facts = true};
  if (ref) request.jobs = {ref->job};
  // One element that still waits with others is shown on its own.
  request.split_arrays = ref && (ref->element || !ref->indices.empty());
  auto jobs = queue::load(session.source, request);
  if (!jobs) return ctx.fail(jobs.error());
  if (ref) std::erase_if(*jobs, [&](const auto& job) { return !queue::matches(*ref, job); });
  if (jobs->empty() && ref) return not_found(ctx, settings, *ref, words[0]);
  if (jobs->empty()) ctx.out.write("No jobs in the system\n");
  for (const auto& job : *jobs) {
    ctx.out.write(join(lines_of(job, session.source.now), settings.oneliner ? " " : "\n   "));
    ctx.out.write(settings.oneliner ? "\n" : "\n\n");
  }
  return slurm::k_exit_ok;
}

} // namespace shim::commands::scontrol
