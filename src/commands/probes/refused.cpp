#include "grid.h"

#include "slurm_shim/commands/probes.h"
#include "slurm_shim/queue/queue.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/slurm/job_id.h"

namespace shim::commands {

namespace {

constexpr cli::HelpFrame k_sattach_help{.synopsis = "sattach [OPTIONS...] JOBID.STEPID",
                                        .description = "Attaching to a running step is not "
                                                       "supported: its output goes to srun alone."};
constexpr cli::HelpFrame k_sreport_help{.synopsis = "sreport [OPTIONS...]",
                                        .description =
                                            "Reports are not made; 'qacct' sums up usage."};
constexpr cli::HelpFrame k_strigger_help{.synopsis = "strigger --get|--set|--clear [OPTIONS...]",
                                         .description = "There are no triggers."};

} // namespace

int run_sattach(context::Context& ctx, const std::vector<std::string>& words) {
  const auto opening = context::open(ctx, sattach_options(), k_sattach_help, words);
  if (opening.code) return *opening.code;
  const auto& rest = opening.parsed.rest;
  const auto usage = [&](std::string_view why) {
    ctx.error(why);
    ctx.out.write("Usage: sattach [options] <jobid.stepid>\n");
    return slurm::k_exit_failure;
  };
  if (rest.size() != 1) return usage("too many parameters"); // Slurm's words, also for none
  const auto ref = slurm::parse_job_id(rest[0]);
  if (!ref || ref->step.empty()) return usage("Failed to parse stepid from command line options");
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  const ge::Tools tools(ctx.runner, ctx.env, ctx.config.qstat_timeout);
  queue::Request request;
  request.jobs = {ref->job};
  const auto jobs =
      queue::load({tools, ctx.config, std::nullopt, ctx.clock.unix_ms() / 1000}, request);
  if (!jobs) return ctx.fail(jobs.error());
  if (jobs->empty()) return ctx.refuse("Could not get job step info: Invalid job id specified");
  return ctx.refuse(
      "attaching to a running step is not supported by slurm-shim: its output goes to "
      "the srun that started it");
}

int run_sreport(context::Context& ctx, const std::vector<std::string>& words) {
  const auto opening = context::open(ctx, sreport_options(), k_sreport_help, words);
  if (opening.code) return *opening.code;
  return ctx.refuse("not supported by slurm-shim: see qacct for sums of usage");
}

int run_strigger(context::Context& ctx, const std::vector<std::string>& words) {
  const auto opening = context::open(ctx, strigger_options(), k_strigger_help, words);
  if (opening.code) return *opening.code;
  if (opening.parsed.has("get") && !opening.parsed.has("set") && !opening.parsed.has("clear"))
    return slurm::k_exit_ok; // none are set
  return ctx.refuse("triggers are not supported by slurm-shim");
}

} // namespace shim::commands
