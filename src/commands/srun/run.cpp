#include "attach.h"
#include "claim.h"
#include "dry_run.h"
#include "hooks.h"
#include "outside.h"
#include "request.h"
#include "step_plan.h"
#include "supervisor.h"

#include "slurm_shim/base/log.h"
#include "slurm_shim/base/strings.h"
#include "slurm_shim/commands/srun.h"
#include "slurm_shim/context/opening.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <algorithm>
#include <csignal>

#include <malloc.h>
#include <unistd.h>

namespace shim::commands {

namespace {

constexpr cli::HelpFrame k_help{"srun [OPTIONS...] PROGRAM [ARGS...]",
                                "Runs PROGRAM as the tasks of a step, on the hosts of the job."};

// A message may have several lines; each gets the prefix.
int refuse(context::Context& ctx, const Error& error) {
  for (const auto line : split(error.message, '\n'))
    if (!line.empty()) ctx.error(line);
  return error.exit_code;
}

// --mpi: none is what we do; everything else needs a process manager that we do not have.
int refuse_mpi(context::Context& ctx, const std::string& type) {
  ctx.error("Couldn't find the specified plugin name for mpi/" + type + " looking at all files");
  ctx.error("cannot find mpi plugin for mpi/" + type);
  ctx.error("MPI: Cannot create context for mpi/" + type);
  ctx.error("MPI: Unable to load any plugin");
  ctx.error("Invalid MPI type '" + type + "', --mpi=list for acceptable types");
  constexpr std::string_view k_known[] = {
      "pmi", "pmix", "openmpi", "ompi", "mpi", "cray", "mvapich", "mpich", "intel", "lam"};
  const auto word = to_lower(type);
  if (std::any_of(std::begin(k_known), std::end(k_known), [&](auto known) {
        return word.starts_with(known);
      }))
    ctx.say("srun: there is no PMI server here: start MPI programs with their own mpirun, which "
            "knows Grid Engine (one call for the whole job, no srun), or use --mpi=none for "
            "programs that find each other by themselves\n");
  return slurm::k_exit_failure;
}

int list_mpi(context::Context& ctx) {
  ctx.out.write("MPI plugin types are...\n\tnone\n");
  return slurm::k_exit_ok;
}

int test_only(context::Context& ctx, srun::StepPlan& plan) {
  if (!plan.ground.standalone) {
    const auto next = layout::peek_step_id(plan.ground.folder);
    if (!next) return refuse(ctx, next.error());
    plan.step_id = *next;
  }
  srun::complete_step(ctx, plan);
  ctx.out.write(srun::dry_run_report(ctx, plan));
  return slurm::k_exit_ok;
}

// In Slurm's order: that the cluster does not bind comes before what is wrong with the value.
bool settle_cpu_bind(context::Context& ctx, srun::Request& request) {
  if (request.cpu_bind_text.empty()) return true;
  if (ctx.config.cpu_bind == "none" && !request.quiet)
    ctx.say("srun: cluster configuration lacks support for cpu binding\n");
  auto bind = slurm::parse_cpu_bind(request.cpu_bind_text);
  if (bind) {
    request.cpu_bind = std::move(*bind);
    return true;
  }
  ctx.error(bind.error().message);
  ctx.say("srun: fatal: Failed to parse --cpu-bind= values.\n");
  return false;
}

// Without a terminal --pty does nothing, as in Slurm.
void settle_terminal(context::Context& ctx, srun::Request& request) {
  if (!request.pty) return;
  auto state = posix::terminal_state(STDIN_FILENO);
  if (state) {
    request.terminal = std::move(*state);
    if (std::exchange(request.label, false)) ctx.warning("--label has no effect with --pty");
    return;
  }
  ctx.error(state.error().message);
  ctx.error("Not using a pseudo-terminal, disregarding --pty option");
}

// Nothing: the step belongs into the job around us.
std::optional<int> run_in_other_job(context::Context& ctx,
                                    srun::LayoutHere& here,
                                    const std::string& id,
                                    srun::Request& request,
                                    const std::vector<std::string>& words) {
  const auto job = srun::find_other_job(ctx, here, id);
  if (!job) return refuse(ctx, job.error());
  if (!*job) return std::nullopt;
  if (request.pty) // the srun there says what is wrong with it
    if (auto state = posix::terminal_state(STDIN_FILENO)) request.terminal = std::move(*state);
  auto plan = srun::plan_attachment(ctx, **job, request, words);
  if (!plan) return refuse(ctx, plan.error());
  srun::complete_step(ctx, *plan);
  return srun::Supervisor(ctx, *plan, std::nullopt).launch();
}

int run_step(context::Context& ctx, srun::LayoutHere& here, srun::Request request) {
  settle_terminal(ctx, request);
  std::vector<std::string> notices;
  const bool quiet = request.quiet;
  auto plan = srun::draft_step(ctx, here, std::move(request), notices);
  for (const auto& notice : notices)
    if (!quiet || notice.rfind("error: ", 0) == 0) ctx.say("srun: " + notice + "\n");
  if (!plan) return refuse(ctx, plan.error());
  if (const auto& mpi = plan->request.mpi; !mpi.empty() && mpi != "none")
    return refuse_mpi(ctx, mpi);
  if (plan->request.test_only) return test_only(ctx, *plan);
  auto registration = srun::claim_step(ctx, *plan);
  if (!registration) return refuse(ctx, registration.error());
  srun::complete_step(ctx, *plan);
  ctx.say(srun::binding_report(ctx, *plan));
  srun::run_hook(ctx, *plan, plan->request.prolog);
  const int code = srun::Supervisor(ctx, *plan, std::move(*registration)).launch();
  srun::run_hook(ctx, *plan, plan->request.epilog);
  return code;
}

} // namespace

int run_srun(context::Context& ctx, const std::vector<std::string>& words) {
  // One arena: glibc would map 64 MB for the writer thread, and h_vmem counts address space.
  ::mallopt(M_ARENA_MAX, 1);
  // A closed stdout is seen as EPIPE: the ranks are ended before srun is.
  (void)::signal(SIGPIPE, SIG_IGN);
  const auto parsed = cli::parse(srun_options(), words, {.command = "srun"});
  if (!parsed) {
    ctx.say(parsed.error().message + "\n");
    return slurm::k_exit_usage;
  }
  if (context::answer_about_itself(ctx, srun_options(), k_help, *parsed)) return slurm::k_exit_ok;
  if (std::ranges::find(parsed->rest, ":") != parsed->rest.end()) {
    ctx.error("heterogeneous steps (\":\") are not supported: see --multi-prog");
    return slurm::k_exit_usage;
  }
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  srun::LayoutHere here(ctx.env);
  const bool is_outside = srun::allocates(ctx, *parsed, here);
  const auto step = is_outside ? srun::without_job_options(*parsed) : *parsed;
  std::vector<std::string> warnings = cli::warnings_of(step);
  if (const auto ok = cli::refuse_unsupported(step, ctx.config.strict_flags); !ok)
    return refuse(ctx, ok.error());
  auto request = srun::make_request(step, srun_options(), ctx.env, ctx.config, warnings);
  if (!request) return refuse(ctx, request.error());
  if (!is_outside) // else the srun in the job tells them
    for (const auto& warning : warnings)
      ctx.warning(warning);
  if (request->mpi == "list") return list_mpi(ctx);
  if (!settle_cpu_bind(ctx, *request)) return slurm::k_exit_failure;
  if (request->command.empty()) {
    ctx.say("srun: fatal: No command given to execute.\n");
    return slurm::k_exit_failure;
  }
  if (is_outside) {
    if (!request->mpi.empty() && request->mpi != "none") return refuse_mpi(ctx, request->mpi);
    return srun::run_outside(ctx, *parsed, step, words);
  }
  if (request->verbose > 0) log::start("srun", request->verbose);
  const auto job = request->job_id.empty() ? srun::job_of_other_host(ctx, here) : request->job_id;
  if (!job.empty())
    if (const auto code = run_in_other_job(ctx, here, job, *request, words)) return *code;
  return run_step(ctx, here, std::move(*request));
}

} // namespace shim::commands
