#include "dependency.h"
#include "gather.h"
#include "job_folder.h"

#include "slurm_shim/commands/env.h"
#include "slurm_shim/fabricate/fabricate.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/records/batch_json.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <fmt/core.h>

#include <exception>

namespace shim::commands {
namespace {

using records::JobFolder;

constexpr std::string_view k_usage =
    "Usage: slurm-shim-env [--export | --cleanup]\n"
    "\n"
    "Makes the SLURM_* environment of a Grid Engine job. Without an option it is a parallel\n"
    "environment's start_proc_args and writes files for the queue's starter_method.\n"
    "\n"
    "  --export   writes the same text to stdout, for: eval \"$(slurm-shim-env --export)\"\n"
    "  --cleanup  removes the files (stop_proc_args)\n"
    "  --help     this text\n";

bool disabled(const context::Context& ctx) {
  return !ctx.env.get_or("SLURM_SHIM_DISABLE", "").empty();
}

// The engine stops a job whose directory is missing; one that was missing at submission comes by
// the record.
Result<std::string> working_directory(const fabricate::JobFacts& facts) {
  if (auto path = facts.record->get("wd")) return *path;
  if (auto path = facts.env.get_or("SGE_CWD_PATH", ""); !path.empty()) return path;
  return posix::current_directory();
}

// What a job from sbatch needs to start at all, even to be told that its environment failed. Comes
// before everything that can fail, the configuration included.
Result<void> write_batch_json(const JobFolder& folder, const fabricate::JobFacts& facts) {
  if (!facts.record) return {};
  TRY_ASSIGN(const auto directory, working_directory(facts));
  return records::write_batch_json(folder,
                                   fabricate::batch_job(facts, posix::host_name(), directory));
}

// The engine's hold waits for the end of other jobs; whether they ended as they had to is asked
// here, and batch-exec tells it where the user looks.
Result<void>
forbid_in_vain(context::Context& ctx, const JobFolder& folder, const fabricate::JobFacts& facts) {
  if (!facts.record) return {};
  const auto why = env::judge_dependency(ctx, facts);
  if (!why) return {};
  TRY_ASSIGN(auto job, records::read_batch_json(folder));
  job.never = records::Never{"dependency", *why};
  return records::write_batch_json(folder, job);
}

Result<void> complete(context::Context& ctx,
                      const JobFolder& folder,
                      fabricate::JobFacts& facts,
                      bool keep_counter) {
  TRY(env::gather_hosts(ctx, facts));
  TRY_ASSIGN(const auto made, fabricate::fabricate(facts));
  for (const auto& line : made.warnings)
    ctx.warning(line);
  TRY(env::write_layout(folder, made.layout, keep_counter));
  if (keep_counter) { // --export: the caller evaluates the text, nobody sources a file
    ctx.out.write(made.environment);
    return {};
  }
  return env::write_environment(folder, made.environment);
}

Result<void> set_places(const JobFolder& folder, fabricate::JobFacts& facts) {
  TRY_ASSIGN(const auto self, posix::self_path());
  facts.bin_directory = posix::dir_name(self);
  facts.job_folder = folder.root();
  return {};
}

Result<void> make_files(context::Context& ctx, const JobFolder& folder) {
  TRY_ASSIGN(const auto self, posix::self_path());
  TRY(env::link_shim(folder, self));
  TRY(env::make_lock(folder));
  const auto configured = context::load_config(ctx);
  fabricate::JobFacts facts;
  facts.config = ctx.config;
  TRY(env::gather_job(ctx, facts));
  TRY(write_batch_json(folder, facts));
  TRY(forbid_in_vain(ctx, folder, facts));
  env::release_waiting(ctx, facts);
  if (disabled(ctx)) return env::write_environment(folder, fabricate::unset_text());
  TRY(configured);
  TRY(set_places(folder, facts));
  return complete(ctx, folder, facts, false);
}

Result<void> hook(context::Context& ctx, const JobFolder& folder) {
  try {
    return make_files(ctx, folder);
  } catch (const std::exception& e) {
    // Beyond this border an exception would end the hook with a code that takes the queue down.
    return fail(ErrorKind::io, e.what());
  }
}

// A failing hook would put the queue instance into an error state: it tells the starter by a file,
// and always ends with 0.
int run_hook(context::Context& ctx) {
  const auto folder = JobFolder::from_env(ctx.env);
  auto done = env::open_folder(folder);
  if (!done) {
    ctx.error(done.error().message);
    return slurm::k_exit_ok;
  }
  env::clear_folder(folder);
  done = hook(ctx, folder);
  if (done) return slurm::k_exit_ok;
  ctx.error(done.error().message);
  if (const auto told = env::write_failure(folder, done.error().message); !told)
    ctx.error(told.error().message);
  return slurm::k_exit_ok;
}

Result<void> print_exports(context::Context& ctx) {
  if (disabled(ctx)) {
    ctx.out.write(fabricate::unset_text());
    return {};
  }
  const auto folder = JobFolder::from_env(ctx.env);
  fabricate::JobFacts facts;
  TRY(context::load_config(ctx));
  facts.config = ctx.config;
  TRY(env::gather_job(ctx, facts));
  TRY(env::open_folder(folder));
  TRY(set_places(folder, facts));
  return complete(ctx, folder, facts, true);
}

int run_export(context::Context& ctx) {
  const auto done = print_exports(ctx);
  if (done) return slurm::k_exit_ok;
  ctx.error(done.error().message);
  ctx.out.write("exit 1\n"); // ends the job that evaluates this
  return slurm::k_exit_failure;
}

int run_cleanup(context::Context& ctx) {
  if (const auto done = env::remove_folder(JobFolder::from_env(ctx.env)); !done)
    ctx.warning(done.error().message);
  return slurm::k_exit_ok;
}

} // namespace

int run_env(context::Context& ctx, const std::vector<std::string>& words) {
  ctx.command = "slurm-shim-env";
  if (words.empty()) return run_hook(ctx);
  const auto& word = words.front();
  if (words.size() == 1 && word == "--export") return run_export(ctx);
  if (words.size() == 1 && word == "--cleanup") return run_cleanup(ctx);
  if (word == "--help" || word == "-h") {
    ctx.out.write(k_usage);
    return slurm::k_exit_ok;
  }
  if (word.starts_with('-')) {
    return ctx.refuse(fmt::format("unknown option \"{}\"", word));
  }
  // `start_proc_args slurm-shim-env $pe_hostfile` is what other hooks are called with.
  ctx.warning(fmt::format("argument \"{}\" is not needed", word));
  return run_hook(ctx);
}

} // namespace shim::commands
