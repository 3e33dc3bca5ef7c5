#include "control.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/queue/targets.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace shim::commands::scontrol {

int tell_failure(const context::Context& ctx,
                 const Settings& settings,
                 std::string_view id,
                 const Failure& failure) {
  tell(ctx, settings, failure.text + " for job " + std::string(id));
  if (failure.second_line) tell(ctx, settings, "slurm_suspend error: " + failure.text);
  return slurm::k_exit_failure;
}

Result<std::vector<queue::Job>> find_jobs(const Session& session, const slurm::JobRef& ref) {
  const bool single = ref.element || !ref.indices.empty();
  TRY_ASSIGN(auto jobs,
             queue::load(session.source,
                         {.users = {}, .jobs = {ref.job}, .split_arrays = single, .facts = false}));
  std::erase_if(jobs, [&](const auto& job) { return !queue::matches(ref, job); });
  return jobs;
}

Result<std::optional<Failure>> run_tool(const Session& session,
                                        const std::string& tool,
                                        std::vector<std::string> args,
                                        std::string_view foreign) {
  TRY_ASSIGN(const auto output, session.tools.run({.tool = tool, .args = std::move(args)}));
  const auto text = to_lower(output.out + output.err);
  if (text.find("does not exist") != std::string::npos ||
      text.find("invalid queue or job") != std::string::npos)
    return Failure{std::string(k_invalid_id)};
  if (text.find("must be at least") != std::string::npos ||
      text.find("must be operator") != std::string::npos ||
      text.find("permission") != std::string::npos || text.find("privileges") != std::string::npos)
    return Failure{std::string(foreign)};
  if (text.find("pending/hold state") != std::string::npos)
    return Failure{"Job is pending execution"};
  if (output.status == 0) return std::nullopt;
  const auto said = trim(output.err.empty() ? output.out : output.err);
  return fail(ErrorKind::unavailable, tool + ": " + std::string(split(said, '\n').front()));
}

namespace {

Result<std::optional<Failure>> missing(context::Context& ctx,
                                       const Session& session,
                                       const slurm::JobRef& ref,
                                       bool tell_ended,
                                       std::string_view unknown) {
  if (tell_ended) {
    TRY_ASSIGN(const auto ended, ended_jobs(ctx, session, ref));
    if (!ended.empty()) return Failure{"Job has already finished"};
  }
  return Failure{std::string(unknown)};
}

} // namespace

namespace {

// The numbers of the caller's jobs of that name; its own word when there are none.
Result<std::vector<std::string>>
ids_of_name(context::Context& ctx, const Session& session, const std::string& word) {
  const auto name = word.substr(word.find('=') + 1);
  queue::Request request;
  request.users = {posix::user_name(ctx.runner, ctx.env)};
  TRY_ASSIGN(const auto jobs, queue::load(session.source, request));
  std::vector<std::string> ids;
  for (const auto& job : jobs)
    if (auto id = std::to_string(job.job);
        job.name == name && std::ranges::find(ids, id) == ids.end())
      ids.push_back(std::move(id));
  if (ids.empty()) ids.push_back(word);
  return ids;
}

} // namespace

int for_each_id(context::Context& ctx,
                const Settings& settings,
                Words words,
                bool second_line,
                Action action,
                std::string_view unknown) {
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  const Session session(ctx);
  int code = slurm::k_exit_ok;
  for (const auto& word : words) {
    // hold and release take names as well.
    const bool by_name = second_line && to_lower(word).starts_with("jobname=");
    const auto ids = by_name ? ids_of_name(ctx, session, word)
                             : Result<std::vector<std::string>>(queue::split_ids(word));
    if (!ids) return ctx.fail(ids.error());
    for (const auto& id : *ids) {
      const auto ref = slurm::parse_job_id(id);
      if (!ref) {
        code = tell_failure(ctx, settings, id, {std::string(k_invalid_id), second_line});
        continue;
      }
      const auto jobs = find_jobs(session, *ref);
      if (!jobs) return ctx.fail(jobs.error());
      auto failure = jobs->empty() ? missing(ctx, session, *ref, second_line, unknown)
                                   : action(ctx, session, *jobs);
      if (!failure) return ctx.fail(failure.error());
      if (!*failure) continue;
      (*failure)->second_line = second_line;
      code = tell_failure(ctx, settings, id, **failure);
    }
  }
  return code;
}

std::string names_of(const std::vector<queue::Job>& jobs) {
  std::vector<std::string> names;
  for (const auto& job : jobs)
    for (auto& name : queue::engine_names(job))
      names.push_back(std::move(name));
  return join(names, ",");
}

int need_id(const context::Context& ctx, const Settings& settings, std::string_view verb) {
  tell(ctx, settings, fmt::format("too few arguments for keyword:{}", verb));
  return slurm::k_exit_failure;
}

namespace {

Result<std::optional<Failure>>
hold_one(context::Context&, const Session& session, const std::vector<queue::Job>& jobs) {
  return run_tool(session, "qhold", {"-h", "u", names_of(jobs)}, "Invalid user id");
}

Result<std::optional<Failure>>
release_one(context::Context&, const Session& session, const std::vector<queue::Job>& jobs) {
  const auto names = names_of(jobs);
  TRY_ASSIGN(auto failure,
             run_tool(session, "qrls", {"-h", "u", names}, "Access/permission denied"));
  if (failure) return failure;
  for (const auto& job : jobs) // a job in error state is released by clearing the error
    if (job.letters.find('E') != std::string::npos) {
      // qmod ends with 1 although it cleared the state, so that its exit code says nothing.
      TRY_ASSIGN(const auto cleared, session.tools.run({.tool = "qmod", .args = {"-cj", names}}));
      static_cast<void>(cleared);
      break;
    }
  return std::nullopt;
}

// Our own jobs are ended by their supervisor, which alone can do it without losing the job
// (decision E2); jobs of plain qsub go through the engine.
Result<std::optional<Failure>> requeue_with(context::Context& ctx,
                                            const Session& session,
                                            const std::vector<queue::Job>& jobs,
                                            std::string_view verb) {
  for (const auto& job : jobs) {
    if (job.pending()) return Failure{"Job is pending execution"};
    if (session.source.state) {
      const auto asked =
          queue::ask_supervisor(*session.source.state, queue::record_key(job), verb, {}, ctx.clock);
      if (asked) continue;
      if (asked.error().message.find("--no-requeue") != std::string::npos)
        return Failure{"Requested operation is presently disabled"};
      if (asked.error().kind == ErrorKind::refused) return Failure{"Access/permission denied"};
      if (asked.error().kind != ErrorKind::not_found) return tl::unexpected<Error>(asked.error());
    }
    TRY_ASSIGN(auto failure,
               run_tool(session,
                        "qmod",
                        {"-rj", join(queue::engine_names(job), ",")},
                        "Access/permission denied"));
    if (failure) return failure;
  }
  return std::nullopt;
}

Result<std::optional<Failure>>
requeue_one(context::Context& ctx, const Session& session, const std::vector<queue::Job>& jobs) {
  return requeue_with(ctx, session, jobs, "requeue");
}

// Held first: it must not start again in between.
Result<std::optional<Failure>> requeue_hold_one(context::Context& ctx,
                                                const Session& session,
                                                const std::vector<queue::Job>& jobs) {
  for (const auto& job : jobs)
    if (job.pending()) return Failure{"Job is pending execution"};
  TRY_ASSIGN(auto failure, run_tool(session, "qhold", {"-h", "u", names_of(jobs)}, k_denied));
  if (failure) return failure;
  return requeue_with(ctx, session, jobs, "requeue-hold");
}

} // namespace

int hold(context::Context& ctx, const Settings& settings, Words words) {
  if (words.empty()) return need_id(ctx, settings, "hold");
  return for_each_id(ctx, settings, words, true, hold_one);
}

int release(context::Context& ctx, const Settings& settings, Words words) {
  if (words.empty()) return need_id(ctx, settings, "release");
  return for_each_id(ctx, settings, words, true, release_one);
}

int requeue(context::Context& ctx, const Settings& settings, Words words) {
  if (words.empty()) return need_id(ctx, settings, "requeue");
  return for_each_id(ctx, settings, words, false, requeue_one);
}

int requeue_hold(context::Context& ctx, const Settings& settings, Words words) {
  // A state may stand before the ids.
  if (!words.empty() && words[0].find('=') != std::string::npos) words = words.subspan(1);
  if (words.empty()) return need_id(ctx, settings, "requeuehold");
  return for_each_id(ctx, settings, words, false, requeue_hold_one);
}

// The engine answers a list of jobs or it is down; its host is not ours to know from here.
int ping(context::Context& ctx, const Settings& settings) {
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  const Session session(ctx);
  const auto answer = session.tools.run({.tool = "qconf", .args = {"-sss"}});
  if (!answer) return ctx.fail(answer.error());
  const auto host = trim(answer->out);
  if (answer->status != 0 || host.empty()) {
    tell(ctx, settings, "Slurmctld(primary) is DOWN");
    return slurm::k_exit_failure;
  }
  ctx.out.write(fmt::format("Slurmctld(primary) at {} is UP\n", split(host, '\n').front()));
  return slurm::k_exit_ok;
}

} // namespace shim::commands::scontrol
