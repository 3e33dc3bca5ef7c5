#include "cancel.h"
#include "gentle.h"
#include "request.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/commands/scancel.h"
#include "slurm_shim/context/opening.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/queue/targets.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <algorithm>
#include <csignal>
#include <map>
#include <set>

#include <unistd.h>

namespace shim::commands {

namespace {

using scancel::Request;

constexpr cli::HelpFrame k_help{
    .synopsis = "scancel [OPTIONS...] [job_id[_array_id][.step_id]...]",
    .description = "Ends jobs, or signals their tasks. Filters must all hold; without --user they\n"
                   "choose among one's own jobs.",
};

// A job line that was chosen, and the step of it that was named.
struct Chosen {
  queue::Job job;
  std::string step;
};

// Unknown names are refused before anything is touched.
Result<void> check_users(context::Context& ctx, Request& request, const std::string& self) {
  if (request.me) request.users.push_back(self);
  for (const auto& user : request.users)
    if (user != self && !posix::lookup_user(ctx.runner, user))
      return fail(ErrorKind::not_found, "Invalid user name: " + user);
  if (request.users.empty() && request.jobs.empty()) request.users.push_back(self);
  return {};
}

std::vector<Chosen> choose(const Request& request, const std::vector<queue::Job>& jobs) {
  std::vector<Chosen> chosen;
  for (const auto& job : jobs) {
    if (!scancel::keeps(request, job)) continue;
    if (request.jobs.empty()) {
      chosen.push_back({job, ""});
      continue;
    }
    std::set<std::string> steps; // "": the job itself, which has all its steps
    for (const auto& ref : request.jobs)
      if (queue::matches(ref, job)) steps.insert(ref.step);
    if (steps.contains("")) steps = {""};
    for (const auto& step : steps)
      chosen.push_back({job, step});
  }
  return chosen;
}

std::string shown(const Chosen& line) {
  const auto id = queue::display_id(line.job);
  return line.step.empty() ? id : id + "." + line.step;
}

// Reads a line of stdin byte by byte: what follows it belongs to the next question.
bool is_confirmed(context::Context& ctx, const Chosen& line) {
  ctx.out.write((line.step.empty() ? "Cancel job_id=" : "Cancel step_id=") + shown(line) +
                " name=" + line.job.name + " partition=" + line.job.partition + " [y/n]? ");
  static_cast<void>(ctx.out.flush());
  std::string answer;
  for (char c = 0; ::read(STDIN_FILENO, &c, 1) == 1 && c != '\n';)
    answer += c;
  return answer == "y" || answer == "Y" || equals_ignore_case(answer, "yes");
}

// -v: what is done to each job. Clients read the number from these lines.
void announce(context::Context& ctx, const Request& request, const std::vector<Chosen>& chosen) {
  for (const auto& line : chosen) {
    const std::string what = (line.step.empty() ? "job " : "step ") + shown(line) + "\n";
    if (request.ends_job())
      ctx.say("scancel: Terminating " + what);
    else
      ctx.say("scancel: Signal " + std::to_string(request.signal.value_or(SIGKILL)) + " to " +
              what);
  }
}

// An id that nobody knows (any more) is no failure and is told under -v only (decision 25b).
void tell_unknown(context::Context& ctx,
                  const Request& request,
                  const std::vector<queue::Job>& all) {
  for (const auto& ref : request.jobs) {
    if (std::ranges::any_of(all, [&](const auto& job) { return queue::matches(ref, job); }))
      continue;
    const auto id = std::to_string(ref.id);
    ctx.say("scancel: Terminating job " + id + "\n");
    if (!request.quiet) ctx.error("Kill job error on job id " + id + ": Invalid job id specified");
  }
}

// The engine's names for what is to end: a job of which every line was chosen by its own number,
// else its elements.
std::vector<std::string> names_to_end(const std::vector<Chosen>& chosen,
                                      const std::vector<queue::Job>& all) {
  std::map<std::uint64_t, std::set<std::uint32_t>> targets; // no tasks: the whole job
  const auto lines_of = [](const auto& lines, std::uint64_t number, auto job_of) {
    return std::ranges::count_if(lines, [&](const auto& line) { return job_of(line) == number; });
  };
  for (const auto& [job, step] : chosen) {
    const bool is_whole =
        lines_of(chosen, job.job, [](const Chosen& line) { return line.job.job; }) ==
        lines_of(all, job.job, [](const queue::Job& line) { return line.job; });
    auto& tasks = targets[job.job];
    if (!is_whole) tasks.insert(job.tasks.begin(), job.tasks.end());
  }
  std::vector<std::string> names;
  for (const auto& [job, tasks] : targets)
    for (auto& name : scancel::engine_targets(job, tasks))
      names.push_back(std::move(name));
  return names;
}

// The supervisors of running jobs first; they have time while qdel ends the others.
int end_chosen(const scancel::Engine& engine,
               const Request& request,
               const std::vector<Chosen>& chosen,
               const std::vector<queue::Job>& all) {
  scancel::GentleEnd gentle(engine);
  std::vector<Chosen> left;
  for (const auto& line : chosen)
    if (!gentle.ask(line.job)) left.push_back(line);
  int code = scancel::end_jobs(engine, request, names_to_end(left, all));
  left.clear();
  for (auto& job : gentle.without_answer())
    left.push_back({std::move(job), ""});
  return std::max(code, scancel::end_jobs(engine, request, names_to_end(left, all)));
}

int cancel(context::Context& ctx, Request request) {
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  const auto self = posix::user_name(ctx.runner, ctx.env);
  if (const auto known = check_users(ctx, request, self); !known) return ctx.fail(known.error());
  const ge::Tools tools(ctx.runner, ctx.env, ctx.config.qstat_timeout);
  scancel::Engine engine{ctx, tools, std::nullopt, self};
  if (auto state = records::locate_state(ctx.runner, ctx.env, ctx.config.job_records))
    engine.state = std::move(*state);
  queue::Request query{.users = request.users,
                       .jobs = {},
                       .split_arrays = true,
                       .facts = !request.accounts.empty(),
                       .hosts = !request.hosts.empty()};
  for (const auto& ref : request.jobs)
    query.jobs.push_back(ref.job);
  const auto all =
      queue::load({tools, ctx.config, engine.state, ctx.clock.unix_ms() / 1000}, query);
  if (!all) return ctx.fail(all.error());
  auto chosen = choose(request, *all);
  if (request.interactive)
    std::erase_if(chosen, [&](const Chosen& line) { return !is_confirmed(ctx, line); });
  if (request.verbose) {
    announce(ctx, request, chosen);
    tell_unknown(ctx, request, *all);
  }
  int code = slurm::k_exit_ok;
  const auto supervised =
      std::stable_partition(chosen.begin(), chosen.end(), [&](const Chosen& line) {
        return request.ends_job() && line.step.empty();
      });
  for (auto line = supervised; line != chosen.end(); ++line)
    code = std::max(code, scancel::signal_job(engine, request, line->job, line->step));
  chosen.erase(supervised, chosen.end());
  return std::max(code, end_chosen(engine, request, chosen, *all));
}

} // namespace

int run_scancel(context::Context& ctx, const std::vector<std::string>& words) {
  const auto opening = context::open(ctx, scancel_options(), k_help, words);
  if (opening.code) return *opening.code;
  const auto& parsed = opening.parsed;
  const auto clusters = cli::value_of(parsed, scancel_options(), ctx.env, "clusters");
  if (const auto known = queue::check_clusters(clusters, ctx.env); !known)
    return ctx.fail(known.error());
  auto request = scancel::make_request(parsed, ctx.env);
  if (!request) {
    if (request.error().kind == ErrorKind::malformed)
      ctx.say(request.error().message + "\n");
    else
      for (const auto line : split(request.error().message, '\n'))
        ctx.error(line);
    return slurm::k_exit_failure;
  }
  return cancel(ctx, std::move(*request));
}

} // namespace shim::commands
