#include "grid.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/commands/probes.h"
#include "slurm_shim/queue/shown.h"
#include "slurm_shim/queue/steps.h"
#include "slurm_shim/queue/targets.h"
#include "slurm_shim/slurm/date_time.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace shim::commands {

namespace {

using probes::Column;

// What runs is not measured by anybody who would tell: only who and how many is known.
constexpr std::array k_step_columns{
    Column{"JobID", 12, true},
    Column{"MaxVMSize", 10},
    Column{"MaxVMSizeNode", 14},
    Column{"MaxVMSizeTask", 14},
    Column{"AveVMSize", 10},
    Column{"MaxRSS", 10},
    Column{"MaxRSSNode", 10},
    Column{"MaxRSSTask", 10},
    Column{"AveRSS", 10},
    Column{"MaxPages", 8},
    Column{"MaxPagesNode", 12},
    Column{"MaxPagesTask", 14},
    Column{"AvePages", 10},
    Column{"MinCPU", 10},
    Column{"MinCPUNode", 10},
    Column{"MinCPUTask", 10},
    Column{"AveCPU", 10},
    Column{"NTasks", 8},
    Column{"AveCPUFreq", 10},
    Column{"ReqCPUFreqMin", 13},
    Column{"ReqCPUFreqMax", 13},
    Column{"ReqCPUFreqGov", 13},
    Column{"ConsumedEnergy", 14},
    Column{"MaxDiskRead", 12},
    Column{"MaxDiskReadNode", 15},
    Column{"MaxDiskReadTask", 15},
    Column{"AveDiskRead", 12},
    Column{"MaxDiskWrite", 12},
    Column{"MaxDiskWriteNode", 16},
    Column{"MaxDiskWriteTask", 16},
    Column{"AveDiskWrite", 12},
    Column{"TRESUsageInAve", 14},
    Column{"TRESUsageInMax", 14},
    Column{"TRESUsageInMaxNode", 18},
    Column{"TRESUsageInMaxTask", 18},
    Column{"TRESUsageInMin", 14},
    Column{"TRESUsageInMinNode", 18},
    Column{"TRESUsageInMinTask", 18},
    Column{"TRESUsageInTot", 14},
    Column{"TRESUsageOutAve", 15},
    Column{"TRESUsageOutMax", 15},
    Column{"TRESUsageOutMaxNode", 19},
    Column{"TRESUsageOutMaxTask", 19},
    Column{"TRESUsageOutMin", 15},
    Column{"TRESUsageOutMinNode", 19},
    Column{"TRESUsageOutMinTask", 19},
    Column{"TRESUsageOutTot", 15},
};

constexpr cli::HelpFrame k_sstat_help{
    .synopsis = "sstat [OPTIONS...]",
    .description = "Shows steps of running jobs. Their usage is not known until they have ended.",
};
constexpr cli::HelpFrame k_sprio_help{
    .synopsis = "sprio [OPTIONS...]",
    .description = "Shows the priorities of waiting jobs, as Grid Engine has computed them.",
};

constexpr cli::HelpFrame k_sdiag_help{
    .synopsis = "sdiag [OPTIONS...]",
    .description = "Shows how many jobs wait and run. What Grid Engine's scheduler did is not\n"
                   "counted: see 'qconf -ssconf' and 'qstat -f'.",
};

struct Session {
  explicit Session(context::Context& ctx)
      : tools(ctx.runner, ctx.env, ctx.config.qstat_timeout), source{tools,
                                                                     ctx.config,
                                                                     std::nullopt,
                                                                     ctx.clock.unix_ms() / 1000} {
    if (auto state = records::locate_state(ctx.runner, ctx.env, ctx.config.job_records))
      source.state = std::move(*state);
  }
  Session(const Session&) = delete; // source refers to tools
  Session& operator=(const Session&) = delete;
  ge::Tools tools;
  queue::Source source;
};

std::vector<std::string> list_of(const cli::Parsed& parsed, std::string_view option) {
  std::vector<std::string> words;
  for (const auto& given : parsed.given)
    if (given.option->name == option)
      for (const auto& word : queue::split_ids(given.value.value_or("")))
        if (!word.empty()) words.push_back(word);
  return words;
}

std::string cell(const queue::Step& step, std::string_view column) {
  if (column == "JobID") return step.display_id();
  if (column == "NTasks") return std::to_string(step.tasks);
  return {};
}

bool shown(const queue::Step& step, const slurm::JobRef& ref, bool all) {
  if (!ref.step.empty()) return step.step == ref.step;
  return all || step.step == "0";
}

} // namespace

int run_sstat(context::Context& ctx, const std::vector<std::string>& words) {
  const auto opening = context::open(ctx, sstat_options(), k_sstat_help, words);
  if (opening.code) return *opening.code;
  const auto& parsed = opening.parsed;
  if (parsed.has("helpformat")) {
    int in_row = 0;
    for (const auto& column : k_step_columns)
      ctx.out.write(fmt::format("{:<19}{}", column.name, ++in_row % 4 == 0 ? "\n" : " "));
    ctx.out.write("\n");
    return slurm::k_exit_ok;
  }
  const auto* format = parsed.last("format");
  const auto columns =
      probes::choose(k_step_columns, format == nullptr ? "" : format->value.value_or(""));
  if (!columns) return ctx.fail(columns.error());
  auto ids = list_of(parsed, "jobs");
  ids.insert(ids.end(), parsed.rest.begin(), parsed.rest.end());
  if (ids.empty()) {
    return ctx.refuse("You didn't give me any jobs to stat.");
  }
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  const Session session(ctx);
  const auto style = probes::style_of(parsed);
  ctx.out.write(probes::header_of(*columns, style));
  for (const auto& id : ids) {
    const auto ref = slurm::parse_job_id(id);
    if (!ref) {
      ctx.say("sstat: fatal: Bad job/step specified: " + id + "\n");
      return slurm::k_exit_failure;
    }
    queue::Request request;
    request.jobs = {ref->job};
    auto jobs = queue::load(session.source, request);
    if (!jobs) return ctx.fail(jobs.error());
    std::erase_if(*jobs, [&](const auto& job) { return !queue::matches(*ref, job); });
    if (jobs->empty()) ctx.error("couldn't get steps for job " + id);
    for (const auto& step : queue::steps_of(session.source, *jobs)) {
      if (!shown(step, *ref, parsed.has("allsteps"))) continue;
      std::vector<std::string> values;
      for (const auto& column : *columns)
        values.push_back(cell(step, column.name));
      ctx.out.write(probes::line_of(*columns, style, values));
    }
  }
  return slurm::k_exit_ok;
}

// Slurm's factors have no counterpart one by one: the engine's whole is in PRIORITY.
int run_sprio(context::Context& ctx, const std::vector<std::string>& words) {
  const auto opening = context::open(ctx, sprio_options(), k_sprio_help, words);
  if (opening.code) return *opening.code;
  const auto& parsed = opening.parsed;
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  const Session session(ctx);
  std::vector<slurm::JobRef> refs;
  for (const auto& id : list_of(parsed, "jobs")) {
    auto ref = slurm::parse_job_id(id);
    if (!ref) {
      return ctx.refuse("Invalid job id: " + id);
    }
    refs.push_back(std::move(*ref));
  }
  const auto users = list_of(parsed, "user");
  const auto partitions = list_of(parsed, "partition");
  queue::Request request;
  request.users = users;
  for (const auto& ref : refs)
    request.jobs.push_back(ref.job);
  auto jobs = queue::load(session.source, request);
  if (!jobs) return ctx.fail(jobs.error());
  std::erase_if(*jobs, [&](const queue::Job& job) {
    const bool named = refs.empty() || std::ranges::any_of(refs, [&](const auto& ref) {
                         return queue::matches(ref, job);
                       });
    const bool there =
        partitions.empty() || std::ranges::find(partitions, job.partition) != partitions.end();
    return !job.pending() || !named || !there;
  });
  if (jobs->empty() && (!refs.empty() || !users.empty())) {
    ctx.out.write("Unable to find jobs matching user/id(s) specified\n");
    return slurm::k_exit_ok;
  }
  if (!parsed.has("noheader"))
    ctx.out.write(
        "          JOBID PARTITION   PRIORITY       SITE        AGE  FAIRSHARE    JOBSIZE\n");
  for (const auto& job : *jobs)
    ctx.out.write(fmt::format("{:>15} {:<9.9} {:>10} {:>10} {:>10} {:>10} {:>10}\n",
                              job.id,
                              job.partition,
                              queue::priority_number(job),
                              0,
                              "N/A",
                              "N/A",
                              "N/A"));
  return slurm::k_exit_ok;
}

// An array counts by its elements, as in Slurm.
int run_sdiag(context::Context& ctx, const std::vector<std::string>& words) {
  const auto opening = context::open(ctx, sdiag_options(), k_sdiag_help, words);
  if (opening.code) return *opening.code;
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  const ge::Tools tools(ctx.runner, ctx.env, ctx.config.qstat_timeout);
  const auto rows = ge::list_jobs(tools, {}, ge::TaskView::jobs);
  if (!rows) return ctx.fail(rows.error());
  std::size_t pending = 0;
  std::size_t running = 0;
  for (const auto& row : *rows) {
    auto& count = row.pending ? pending : running;
    count += row.tasks.empty() ? 1 : ge::expand_task_ranges(row.tasks).size();
  }
  const auto now = ctx.clock.unix_ms() / 1000;
  const auto when = slurm::format_date_time(now, "%a %b %e %H:%M:%S %Y", now);
  const std::string rule(55, '*');
  ctx.out.write(fmt::format("{0}\nsdiag output at {1} ({2})\n{0}\n\n"
                            "Job states ts:  {1} ({2})\nJobs pending:   {3}\nJobs running:   {4}\n",
                            rule,
                            when,
                            now,
                            pending,
                            running));
  return slurm::k_exit_ok;
}

} // namespace shim::commands
