#include "request.h"
#include "step_plan.h"
#include "supervisor.h"

#include "slurm_shim/base/log.h"
#include "slurm_shim/base/strings.h"
#include "slurm_shim/cli/help.h"
#include "slurm_shim/cli/parse.h"
#include "slurm_shim/commands/srun.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <algorithm>
#include <csignal>

#include <malloc.h>

namespace shim::commands {

namespace {

constexpr cli::HelpFrame k_help{"srun [OPTIONS...] PROGRAM [ARGS...]",
                                "Runs PROGRAM as the tasks of a step, on the hosts of the job."};

// A message may have several lines; each gets the prefix.
int refuse(context::Context& ctx, const Error& error) {
  for (const auto line : split(error.message, '\n'))
    ctx.error(line);
  return error.exit_code;
}

// --mpi: none is what we do; everything else needs a process manager that we do not have.
int refuse_mpi(context::Context& ctx, const std::string& type) {
  ctx.error("Couldn't find the specified plugin name for mpi/" + type + " looking at all files");
  ctx.error("cannot find mpi plugin for mpi/" + type);
  ctx.error("MPI: Cannot create context for mpi/" + type);
  ctx.error("MPI: Unable to load any plugin");
  ctx.error("Invalid MPI type '" + type + "', --mpi=list for acceptable types");
  if (type.rfind("pmi", 0) == 0 || type == "openmpi")
    ctx.say("srun: there is no PMI server here: start MPI programs with mpirun (it knows Grid "
            "Engine), or use --mpi=none for programs that find each other by themselves\n");
  return slurm::k_exit_failure;
}

int list_mpi(context::Context& ctx) {
  ctx.out.write("MPI plugin types are...\n\tnone\n");
  return slurm::k_exit_ok;
}

// Options that answer by themselves, before any configuration is read.
std::optional<int> answer_at_once(context::Context& ctx, const cli::Parsed& parsed) {
  if (parsed.has("version")) {
    ctx.out.write(context::version_text(ctx));
    return slurm::k_exit_ok;
  }
  if (parsed.has("help")) {
    ctx.out.write(cli::help_text(srun_options(), k_help));
    return slurm::k_exit_ok;
  }
  if (parsed.has("usage")) {
    ctx.out.write(cli::usage_text(srun_options(), k_help));
    return slurm::k_exit_ok;
  }
  return std::nullopt;
}

int run_step(context::Context& ctx, srun::Request request) {
  std::vector<std::string> notices;
  const bool quiet = request.quiet;
  const auto plan = srun::make_step_plan(ctx, std::move(request), notices);
  for (const auto& notice : notices)
    if (!quiet || notice.rfind("error: ", 0) == 0) ctx.say("srun: " + notice + "\n");
  if (!plan) return refuse(ctx, plan.error());
  return srun::Supervisor(ctx, *plan).launch();
}

} // namespace

int run_srun(context::Context& ctx, const std::vector<std::string>& words) {
  // One arena: glibc would map 64 MB for the writer thread, and h_vmem counts address space.
  ::mallopt(M_ARENA_MAX, 1);
  // A closed stdout is seen as EPIPE: the ranks are ended before srun is.
  ::signal(SIGPIPE, SIG_IGN);
  const auto parsed = cli::parse(srun_options(), words, {.command = "srun"});
  if (!parsed) {
    ctx.say(parsed.error().message + "\n");
    return slurm::k_exit_usage;
  }
  if (const auto code = answer_at_once(ctx, *parsed)) return *code;
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  std::vector<std::string> warnings = cli::warnings_of(*parsed);
  if (const auto ok = cli::refuse_unsupported(*parsed, ctx.config.strict_flags); !ok)
    return refuse(ctx, ok.error());
  auto request = srun::make_request(*parsed, srun_options(), ctx.env, ctx.config, warnings);
  if (!request) return refuse(ctx, request.error());
  for (const auto& warning : warnings)
    ctx.warning(warning);
  if (request->mpi == "list") return list_mpi(ctx);
  if (request->command.empty()) {
    ctx.say("srun: fatal: No command given to execute.\n");
    return slurm::k_exit_failure;
  }
  if (!request->mpi.empty() && request->mpi != "none") return refuse_mpi(ctx, request->mpi);
  if (request->verbose > 0) log::start("srun", request->verbose);
  return run_step(ctx, std::move(*request));
}

} // namespace shim::commands
