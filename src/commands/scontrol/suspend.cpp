#include "control.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/queue/targets.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <chrono>

namespace shim::commands::scontrol {

namespace {

constexpr std::string_view k_unknown = "Unexpected message received"; // Slurm's words, here alone
constexpr std::string_view k_waits = "Job is pending execution";

// The job's own supervisor stops and continues its ranks on all hosts, which the engine does not
// (decision E9). A job without one is the engine's alone.
Result<std::optional<Failure>>
ask_ranks(context::Context& ctx, const Session& session, const queue::Job& job, const char* verb) {
  if (!session.source.state) return std::nullopt;
  const auto asked =
      queue::ask_supervisor(*session.source.state, queue::record_key(job), verb, {}, ctx.clock);
  if (asked || asked.error().kind == ErrorKind::not_found) return std::nullopt;
  if (asked.error().message.find("access") != std::string::npos)
    return Failure{std::string(k_denied)};
  return tl::unexpected<Error>(asked.error());
}

bool suspended(const queue::Job& job) {
  return job.letters.find_first_of("sST") != std::string::npos;
}

// The ranks first: the engine's stop reaches the supervisor, which reads no more requests then.
Result<std::optional<Failure>>
suspend_one(context::Context& ctx, const Session& session, const std::vector<queue::Job>& jobs) {
  for (const auto& job : jobs) {
    if (job.pending()) return Failure{std::string(k_waits)};
    if (suspended(job)) continue;
    TRY_ASSIGN(auto refused, ask_ranks(ctx, session, job, "suspend"));
    if (refused) return refused;
    TRY_ASSIGN(auto failure,
               run_tool(session, "qmod", {"-sj", join(queue::engine_names(job), ",")}, k_denied));
    if (failure) return failure;
  }
  return std::nullopt;
}

Result<std::optional<Failure>>
resume_one(context::Context& ctx, const Session& session, const std::vector<queue::Job>& jobs) {
  for (const auto& job : jobs) {
    if (!suspended(job)) return Failure{"Job is not suspended"};
    TRY_ASSIGN(auto failure,
               run_tool(session, "qmod", {"-usj", join(queue::engine_names(job), ",")}, k_denied));
    if (failure) return failure;
    TRY_ASSIGN(auto refused, ask_ranks(ctx, session, job, "resume"));
    if (refused) return refused;
  }
  return std::nullopt;
}

// The highest priority that the engine has; only an operator may raise one.
Result<std::optional<Failure>>
top_one(context::Context&, const Session& session, const std::vector<queue::Job>& jobs) {
  return run_tool(session, "qalter", {"-p", "1024", names_of(jobs)}, k_denied);
}

} // namespace

int suspend(context::Context& ctx, const Settings& settings, Words words) {
  if (words.empty()) return need_id(ctx, settings, "suspend");
  return for_each_id(ctx, settings, words, false, suspend_one, k_unknown);
}

int resume(context::Context& ctx, const Settings& settings, Words words) {
  if (words.empty()) return need_id(ctx, settings, "resume");
  return for_each_id(ctx, settings, words, false, resume_one, k_unknown);
}

int top(context::Context& ctx, const Settings& settings, Words words) {
  if (words.empty()) return need_id(ctx, settings, "top");
  return for_each_id(ctx, settings, words, false, top_one);
}

// Until the job runs. A job that is gone, or that nobody has, will not.
int wait_job(context::Context& ctx, const Settings& settings, Words words) {
  constexpr std::chrono::seconds k_interval{2};
  if (words.empty()) return need_id(ctx, settings, "wait_job");
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  const auto ref = slurm::parse_job_id(words[0]);
  if (!ref) {
    tell(ctx, settings, std::string(k_invalid_id) + " for job " + words[0]);
    return slurm::k_exit_failure;
  }
  const Session session(ctx);
  while (true) {
    const auto jobs = find_jobs(session, *ref);
    if (!jobs) return ctx.fail(jobs.error());
    if (jobs->empty()) {
      tell(ctx, settings, "Job is no longer pending: " + words[0]);
      return slurm::k_exit_failure;
    }
    for (const auto& job : *jobs)
      if (!job.pending()) return slurm::k_exit_ok;
    ctx.clock.sleep_for(k_interval);
  }
}

} // namespace shim::commands::scontrol
