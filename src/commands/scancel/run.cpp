#include "cancel.h"
#include "request.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/cli/help.h"
#include "slurm_shim/commands/scancel.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/queue/targets.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <algorithm>

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
    for (const auto& ref : request.jobs)
      if (queue::matches(ref, job)) {
        chosen.push_back({job, ref.step});
        break;
      }
  }
  return chosen;
}

// Reads a line of stdin byte by byte: what follows it belongs to the next question.
bool is_confirmed(context::Context& ctx, const queue::Job& job) {
  ctx.out.write("Cancel job_id=" + queue::display_id(job) + " name=" + job.name +
                " partition=" + job.partition + " [y/n]? ");
  static_cast<void>(ctx.out.flush());
  std::string line;
  for (char c = 0; ::read(0, &c, 1) == 1 && c != '\n';)
    line += c;
  return line == "y" || line == "Y" || equals_ignore_case(line, "yes");
}

// The engine's names for what is to end; a job of which every line was chosen by its own number.
std::vector<std::string> names_to_end(const std::vector<Chosen>& chosen,
                                      const std::vector<queue::Job>& all) {
  std::vector<std::string> names;
  const auto lines_of = [](const auto& lines, std::uint64_t number, auto job_of) {
    return std::ranges::count_if(lines, [&](const auto& line) { return job_of(line) == number; });
  };
  for (const auto& [job, step] : chosen) {
    const bool is_whole =
        lines_of(chosen, job.job, [](const Chosen& line) { return line.job.job; }) ==
        lines_of(all, job.job, [](const queue::Job& line) { return line.job; });
    auto of_job = is_whole ? std::vector{std::to_string(job.job)} : queue::engine_names(job);
    for (auto& name : of_job)
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

int cancel(context::Context& ctx, Request request) {
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  const auto self = posix::user_name(ctx.runner, ctx.env);
  if (const auto known = check_users(ctx, request, self); !known) return ctx.fail(known.error());
  const ge::Tools tools(ctx.runner, ctx.env, ctx.config.qstat_timeout);
  scancel::Engine engine{ctx, tools, std::nullopt};
  if (auto state = records::locate_state(ctx.runner, ctx.env, ctx.config.job_records))
    engine.state = std::move(*state);
  queue::Request query{.users = request.users, .jobs = {}, .split_arrays = true, .facts = false};
  for (const auto& ref : request.jobs)
    query.jobs.push_back(ref.job);
  const auto all =
      queue::load({tools, ctx.config, engine.state, ctx.clock.unix_ms() / 1000}, query);
  if (!all) return ctx.fail(all.error());
  auto chosen = choose(request, *all);
  if (request.interactive)
    std::erase_if(chosen, [&](const Chosen& line) { return !is_confirmed(ctx, line.job); });
  if (request.verbose)
    for (const auto& line : chosen)
      ctx.say(
          "scancel: " + std::string(request.ends_job() ? "Terminating job " : "Signaling job ") +
          queue::display_id(line.job) + "\n");
  int code = slurm::k_exit_ok;
  const auto supervised =
      std::stable_partition(chosen.begin(), chosen.end(), [&](const Chosen& line) {
        return request.ends_job() && line.step.empty();
      });
  for (auto line = supervised; line != chosen.end(); ++line)
    code = std::max(code, scancel::signal_job(engine, request, line->job, line->step));
  chosen.erase(supervised, chosen.end());
  if (chosen.empty()) return code;
  return std::max(code, scancel::end_jobs(engine, request, names_to_end(chosen, *all)));
}

} // namespace

int run_scancel(context::Context& ctx, const std::vector<std::string>& words) {
  const auto parsed =
      cli::parse(scancel_options(), words, {.command = ctx.command, .permute = true});
  if (!parsed) {
    ctx.say(parsed.error().message + "\n");
    return slurm::k_exit_failure;
  }
  if (parsed->has("version")) {
    ctx.out.write(context::version_text(ctx));
    return slurm::k_exit_ok;
  }
  if (parsed->has("help") || parsed->has("usage")) {
    ctx.out.write(parsed->has("help") ? cli::help_text(scancel_options(), k_help)
                                      : cli::usage_text(scancel_options(), k_help));
    return slurm::k_exit_ok;
  }
  if (const auto fine = cli::refuse_unsupported(*parsed, false); !fine)
    return ctx.fail(fine.error());
  for (const auto& line : cli::warnings_of(*parsed))
    ctx.warning(line);
  auto request = scancel::make_request(*parsed, ctx.env);
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
