// slurm-shim records prune: cleans the caller's state folder now, as sbatch does once a day.
#include "slurm_shim/cli/admin_parser.h"
#include "slurm_shim/commands/admin.h"
#include "slurm_shim/ge/jobs.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/records/sweep.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <optional>

namespace shim::commands {

namespace {

constexpr std::chrono::milliseconds k_budget{60000};

// The text to print instead of working, or nothing.
Result<std::optional<std::string>> parse_records(const std::vector<std::string>& words) {
  cli::AdminParser parser("Job records and submit files of one's own jobs.", "slurm-shim records");
  (void)parser.subcommand("prune",
                          "remove the files of jobs that are gone: submit files after a day, "
                          "records after 90 days");
  return parser.parse(words);
}

Result<int> prune(context::Context& ctx, const records::StatePaths& state) {
  if (!posix::exists(state.jobs_dir())) return 0;
  const ge::Tools tools(ctx.runner, ctx.env, ctx.config.qstat_timeout);
  const auto user = posix::user_name(ctx.runner, ctx.env);
  const auto alive = [&] { return ge::numbers_of_jobs(tools, user); };
  return records::sweep(state, ctx.clock, alive, k_budget);
}

} // namespace

int run_records(context::Context& ctx, const std::vector<std::string>& words) {
  const auto text = parse_records(words);
  if (!text) return ctx.fail(Error(text.error()).context("records"));
  if (*text) {
    ctx.out.write(**text);
    return slurm::k_exit_ok;
  }
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  const auto state = records::locate_state(ctx.runner, ctx.env, ctx.config.job_records);
  if (!state) return ctx.fail(state.error());
  const auto removed = prune(ctx, *state);
  if (!removed) return ctx.fail(Error(removed.error()).context("records: nothing was removed"));
  ctx.out.write(state->root() + ": " + std::to_string(*removed) +
                (*removed == 1 ? " file removed\n" : " files removed\n"));
  return slurm::k_exit_ok;
}

} // namespace shim::commands
