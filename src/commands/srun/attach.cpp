#include "attach.h"

#include "input_plan.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/jobs.h"
#include "slurm_shim/ge/tools.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/slurm/job_id.h"

#include <algorithm>

namespace shim::commands::srun {

namespace {

// The job's variables come from where its script got them. What this srun was asked for by
// variables is not the job's, and what the job's script was asked for is not this step's.
constexpr std::string_view k_script =
    R"(environment=$TMPDIR/slurm_shim/environment
if [ ! -r "$environment" ]; then
    echo "srun: error: job $JOB_ID has no slurm-shim environment on its master host" >&2
    exit 1
fi
. "$environment"
unset environment SLURM_STEP_ID SLURM_STEPID SLURM_NTASKS SLURM_NPROCS SLURM_NTASKS_PER_NODE
unset SLURM_DISTRIBUTION SLURM_DIST_PLANESIZE
exec "$0" srun "$@")";

// Who is in a step has the job's variables already, and its step's.
std::vector<std::string> attachment_command(const std::string& self,
                                            const OtherJob& job,
                                            const std::vector<std::string>& words) {
  std::vector<std::string> command = {"/bin/bash", "-c", std::string(k_script), self};
  if (job.has_us) command = {self, "srun"};
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

bool is_in_step_of(const EnvList& env, const OtherJob& job) {
  return env.has("SLURM_STEP_ID") && env.get_or("JOB_ID", "") == std::to_string(job.job) &&
         env.get_or("SLURM_JOB_ID", "") == std::to_string(job.slurm_id);
}

tl::unexpected<Error> not_confirmed(std::string_view id, const std::string& why, bool expired) {
  auto text = "Unable to confirm allocation for job " + std::string(id) + ": " + why;
  if (expired)
    text += "\nCheck SLURM_JOB_ID environment variable. Expired or invalid job " + std::string(id);
  return fail(ErrorKind::not_found, text);
}

bool is_around_us(const EnvList& env,
                  LayoutHere& here,
                  const slurm::DecodedJobId& wanted,
                  std::string_view id) {
  const auto& found = here.get();
  if (!found || found->layout.job.job_id != static_cast<std::int64_t>(wanted.job)) return false;
  return !wanted.element || env.get_or("SLURM_JOB_ID", "") == id;
}

// The engine's number of an element, 0 = the job is no array or has not so many.
Result<std::uint32_t> task_of(const ge::Tools& tools, const slurm::DecodedJobId& wanted) {
  if (!wanted.element) return 0;
  TRY_ASSIGN(const auto facts, ge::describe_jobs(tools, {wanted.job}));
  const auto* job = facts.find(wanted.job);
  if (job == nullptr) return 0;
  const auto tasks = ge::expand_task_ranges(job->structure);
  return *wanted.element < tasks.size() ? tasks[*wanted.element] : 0;
}

} // namespace

Result<std::optional<OtherJob>>
find_other_job(context::Context& ctx, LayoutHere& here, const std::string& id) {
  const auto number = parse_int<std::uint64_t>(id);
  if (!number || *number == 0)
    return fail(ErrorKind::usage, "Invalid numeric value \"" + id + "\" for --jobid.");
  const auto wanted = slurm::decode_job_id(*number);
  if (is_around_us(ctx.env, here, wanted, id)) return std::optional<OtherJob>();
  const ge::Tools tools(ctx.runner, ctx.env, ctx.config.qstat_timeout);
  TRY_ASSIGN(const auto rows,
             ge::list_jobs(tools, {posix::user_name(ctx.runner, ctx.env)}, ge::TaskView::hosts));
  TRY_ASSIGN(const auto task, task_of(tools, wanted));
  std::vector<const ge::JobRow*> running;
  bool is_known = false;
  for (const auto& row : rows) {
    if (row.job != wanted.job) continue;
    is_known = true;
    const bool is_it = task == 0 || (!row.tasks.empty() && row.tasks[0].first == task);
    if (!row.pending && !row.slave && !row.host.empty() && is_it) running.push_back(&row);
  }
  if (!is_known) { // among those that run
    TRY_ASSIGN(const auto mine, ge::numbers_of_jobs(tools, posix::user_name(ctx.runner, ctx.env)));
    if (!mine.contains(static_cast<std::int64_t>(wanted.job)))
      return not_confirmed(id, "Invalid job id specified", true);
  }
  if (running.empty()) return not_confirmed(id, "Job is pending execution", false);
  if (running.size() > 1)
    return not_confirmed(
        id, "several elements of the array run; use the SLURM_JOB_ID of one", false);
  const auto& row = *running[0];
  OtherJob out;
  out.job = static_cast<std::int64_t>(row.job);
  if (!row.tasks.empty()) out.array_task = row.tasks[0].first;
  out.slurm_id = *number;
  out.master_host = row.host;
  out.pe = row.pe;
  out.has_us = is_in_step_of(ctx.env, out);
  return std::optional(std::move(out));
}

Result<StepPlan> plan_attachment(context::Context& ctx,
                                 const OtherJob& job,
                                 const Request& request,
                                 const std::vector<std::string>& words) {
  StepPlan plan;
  plan.is_relay = true;
  plan.request.terminal = request.terminal;
  // Input that no task reads stays for others.
  if (!is_stdin_read(request.input)) plan.request.input = "none";
  TRY_ASSIGN(const auto self, posix::self_path());
  plan.request.command = attachment_command(self, job, words);
  plan.name = "srun";
  TRY_ASSIGN(plan.cwd, directory_of_step(request));
  auto& layout = plan.ground.layout;
  layout.job.job_id = job.job;
  layout.job.array_task_id = job.array_task;
  layout.job.pe_name = job.pe;
  layout::Node node;
  node.host = node.fqdn = job.master_host;
  node.slots = 1;
  node.is_master = true;
  layout.nodes.push_back(std::move(node));
  plan.ground.standalone = true; // the job's folder is not here
  plan.ground.slurm_job_id = static_cast<std::int64_t>(job.slurm_id);
  plan.ground.any_remote_possible = true;
  ctx.env.set("JOB_ID", std::to_string(job.job));
  ctx.env.set("SGE_TASK_ID", job.array_task ? std::to_string(*job.array_task) : "undefined");
  plan.env = ctx.env;
  plan::StepRequest one;
  one.ntasks = 1;
  std::vector<std::string> warnings;
  TRY_ASSIGN(plan.placement, plan::place(to_allocation(layout), one, warnings));
  return plan;
}

} // namespace shim::commands::srun
