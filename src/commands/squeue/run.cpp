#include "columns.h"
#include "order.h"
#include "request.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/cli/help.h"
#include "slurm_shim/commands/squeue.h"
#include "slurm_shim/ge/accounting.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <algorithm>
#include <ctime>

namespace shim::commands {

namespace {

using squeue::Request;

constexpr std::int64_t k_min_job_age = 300; // as long as Slurm remembers a finished job
constexpr std::string_view k_facts_letters = "UGgZoakVcE";

constexpr cli::HelpFrame k_help{
    .synopsis = "squeue [OPTIONS...]",
    .description = "Shows the jobs that wait or run.",
    .epilogue =
        "Letters of --format: %i id, %P partition, %j name, %u user, %t %T state,\n"
        "%M time used, %l limit, %L time left, %D nodes, %C CPUs, %R node list or reason,\n"
        "%N node list, %r reason, %S start, %e end, %V submission, %A %F %K ids of arrays,\n"
        "%Q %p priority, %Z directory, %o command, %U user number. %.8j is right-justified.",
};

// Every line of an error is told with the prefix; an empty last line stays empty, as in Slurm.
int tell(const context::Context& ctx, const Error& error) {
  std::string_view rest = error.message;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    ctx.error(rest.substr(0, end));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
    if (rest.empty()) ctx.say("\n");
  }
  return slurm::k_exit_failure;
}

// `squeue -j 7`: the value of an option that takes it only attached may be the next word.
int take_loose_value(const context::Context& ctx, cli::Parsed& parsed) {
  if (!parsed.rest.empty())
    for (auto& given : parsed.given)
      if ((given.option->name == "jobs" || given.option->name == "steps") && !given.value) {
        given.value = parsed.rest.front();
        parsed.rest.erase(parsed.rest.begin());
        break;
      }
  if (parsed.rest.empty()) return slurm::k_exit_ok;
  ctx.error("Unrecognized option: " + parsed.rest.front());
  ctx.out.write(cli::usage_text(squeue_options(), k_help));
  return slurm::k_exit_failure;
}

// Names of the users asked for. An unknown one is told and drops out.
std::vector<std::string> users_of(context::Context& ctx, const Request& request, bool& nobody) {
  std::vector<std::string> users;
  const auto self = posix::user_name(ctx.runner, ctx.env);
  if (request.me) users.push_back(self);
  for (const auto& user : request.users) {
    if (user == self) {
      users.push_back(user);
      continue;
    }
    const auto entry = posix::lookup_user(ctx.runner, user);
    if (entry)
      users.push_back(entry->name);
    else
      tell(ctx, {ErrorKind::not_found, "Invalid user: " + user + "\n", slurm::k_exit_failure});
  }
  nobody = users.empty() && (request.me || !request.users.empty());
  return users;
}

// Hosts that the engine does not have are refused; when it cannot be asked, nothing is.
Result<void> check_hosts(const ge::Tools& tools, const Request& request) {
  if (request.hosts.empty()) return {};
  TRY_ASSIGN(const auto answer, tools.run({.tool = "qconf", .args = {"-sel"}}));
  if (answer.status != 0) return {};
  const auto known = split(answer.out, '\n');
  for (const auto& host : request.hosts)
    if (std::ranges::none_of(known, [&](std::string_view name) {
          return trim(name) == host || trim(name).substr(0, trim(name).find('.')) == host;
        }))
      return fail(ErrorKind::not_found, "Invalid node name " + host);
  return {};
}

// A single id that qstat does not list: Slurm knows a job for a while after its end and says so by
// an empty list; an id it never had is an error (spec commands 2.2).
bool is_unknown(const context::Context& ctx,
                const ge::Tools& tools,
                const Request& request,
                const std::vector<queue::Job>& jobs) {
  if (request.jobs.size() != 1 || ctx.config.squeue_unknown_job == "empty") return false;
  const auto job = request.jobs[0].job;
  if (std::ranges::find(jobs, job, &queue::Job::job) != jobs.end()) return false;
  if (ctx.config.squeue_unknown_job == "error") return true;
  const auto end = ge::query_end(tools, job);
  if (!end) return false;
  return !*end || ctx.clock.unix_ms() / 1000 - **end > k_min_job_age;
}

std::string date_line(std::int64_t now) {
  const auto when = static_cast<std::time_t>(now);
  std::tm parts{};
  char text[64];
  ::localtime_r(&when, &parts);
  const auto size = std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y\n", &parts);
  return {text, size};
}

int show(context::Context& ctx, const Request& request) {
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  const ge::Tools tools(ctx.runner, ctx.env, ctx.config.qstat_timeout);
  const auto format = squeue::parse_format(request.format);
  queue::Source source{tools, ctx.config, std::nullopt, ctx.clock.unix_ms() / 1000};
  if (auto state = records::locate_state(ctx.runner, ctx.env, ctx.config.job_records))
    source.state = std::move(*state);
  bool nobody = false;
  queue::Request query{.users = users_of(ctx, request, nobody),
                       .jobs = {},
                       .split_arrays = request.split_arrays,
                       .facts = format.uses(k_facts_letters) || !request.accounts.empty()};
  for (const auto& ref : request.jobs)
    query.jobs.push_back(ref.job);
  if (const auto fine = check_hosts(tools, request); !fine) return tell(ctx, fine.error());
  std::vector<queue::Job> jobs;
  if (!nobody) {
    auto loaded = queue::load(source, query);
    if (!loaded) return ctx.fail(loaded.error());
    jobs = std::move(*loaded);
    if (is_unknown(ctx, tools, request, jobs)) {
      ctx.say("slurm_load_jobs error: Invalid job id specified\n");
      return slurm::k_exit_failure;
    }
  }
  std::erase_if(jobs, [&](const auto& job) { return !squeue::keeps(request, job); });
  squeue::sort_jobs(jobs, request.sort);
  for (const auto& line : format.errors)
    ctx.error(line);
  if (request.long_form && request.header) ctx.out.write(date_line(source.now));
  if (request.header) ctx.out.write(squeue::header_line(format));
  for (const auto& job : jobs)
    ctx.out.write(squeue::job_line(format, job, source.now));
  return slurm::k_exit_ok;
}

} // namespace

int run_squeue(context::Context& ctx, const std::vector<std::string>& words) {
  auto parsed = cli::parse(squeue_options(), words, {.command = ctx.command, .permute = true});
  if (!parsed) {
    ctx.say(parsed.error().message + "\n");
    return slurm::k_exit_failure;
  }
  if (parsed->has("version")) {
    ctx.out.write(context::version_text(ctx));
    return slurm::k_exit_ok;
  }
  if (parsed->has("help") || parsed->has("usage")) {
    ctx.out.write(parsed->has("help") ? cli::help_text(squeue_options(), k_help)
                                      : cli::usage_text(squeue_options(), k_help));
    return slurm::k_exit_ok;
  }
  if (const auto fine = cli::refuse_unsupported(*parsed, false); !fine)
    return ctx.fail(fine.error());
  if (const int code = take_loose_value(ctx, *parsed); code != slurm::k_exit_ok) return code;
  for (const auto& line : cli::warnings_of(*parsed))
    ctx.warning(line);
  const auto request = squeue::make_request(*parsed, ctx.env);
  if (!request) return tell(ctx, request.error());
  return show(ctx, *request);
}

} // namespace shim::commands
