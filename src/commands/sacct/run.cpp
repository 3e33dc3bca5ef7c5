#include "columns.h"
#include "request.h"
#include "table.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/base/yaml.h"
#include "slurm_shim/commands/sacct.h"
#include "slurm_shim/context/opening.h"
#include "slurm_shim/ge/cell.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <algorithm>
#include <map>

#include <unistd.h>

namespace shim::commands {

namespace {

using sacct::Refusal;
using sacct::Request;

constexpr cli::HelpFrame k_help{
    .synopsis = "sacct [OPTIONS...]",
    .description = "Shows jobs that wait, run or have ended: by default those of the caller since\n"
                   "midnight.",
    .epilogue = "--helpformat lists the columns of --format."};

int tell(context::Context& ctx, const Refusal& refusal) {
  if (refusal.prefix == Refusal::Prefix::none) {
    ctx.say(refusal.text + "\n");
  } else if (refusal.prefix == Refusal::Prefix::fatal) {
    ctx.say(ctx.command + ": fatal: " + refusal.text + "\n");
  } else {
    ctx.error(refusal.text);
  }
  return slurm::k_exit_failure;
}

// Numbers of users, each looked up once.
class Identities {
public:
  explicit Identities(context::Context& ctx) : m_ctx(ctx) {}
  std::optional<sacct::Ids> operator()(const std::string& user) {
    const auto it = m_known.find(user);
    if (it != m_known.end()) return it->second;
    std::optional<sacct::Ids> ids;
    if (const auto entry = posix::lookup_user(m_ctx.runner, user))
      ids = sacct::Ids{entry->uid, entry->gid};
    else if (user == posix::user_name(m_ctx.runner, m_ctx.env))
      ids = sacct::Ids{::getuid(), ::getgid()};
    return m_known[user] = ids;
  }

private:
  context::Context& m_ctx;
  std::map<std::string, std::optional<sacct::Ids>> m_known;
};

// Whose jobs: those named; with -j or -a everybody's; else the caller's.
Result<std::vector<std::string>> users_of(context::Context& ctx, const Request& request) {
  std::vector<std::string> users;
  for (const auto& user : request.users) {
    const auto entry = posix::lookup_user(ctx.runner, user);
    if (!entry && is_digits(user)) return fail(ErrorKind::not_found, "Invalid user id: " + user);
    users.push_back(entry ? entry->name : user);
  }
  if (users.empty() && request.jobs.empty() && !request.all_users && ::getuid() != 0)
    users.push_back(posix::user_name(ctx.runner, ctx.env));
  return users;
}

// Which rows of a job the ids that were named let through.
bool shows(const Request& request, const history::Entry& job, const std::string& step) {
  if (request.jobs.empty()) return true;
  return std::ranges::any_of(request.jobs, [&](const slurm::JobRef& ref) {
    return history::matches(ref, job) && (ref.step.empty() || ref.step == step);
  });
}

// Scripts are not kept once a job has been submitted; Slurm keeps them only where it is told to.
void print_scripts(context::Context& ctx, const std::vector<history::Entry>& jobs) {
  constexpr std::size_t k_rule = 80;
  for (const auto& job : jobs)
    ctx.out.write("Batch Script for " + job.shown_id + "\n" + std::string(k_rule, '-') +
                  "\nNONE\n\n");
}

void print(context::Context& ctx,
           const Request& request,
           const std::vector<sacct::Chosen>& columns,
           const sacct::Setting& setting,
           const std::vector<history::Entry>& jobs) {
  if (request.header) ctx.out.write(sacct::header(request, columns));
  for (const auto& job : jobs) {
    if (shows(request, job, ""))
      ctx.out.write(sacct::line(request, columns, {job, nullptr, setting}));
    if (!request.steps) continue;
    for (const auto& step : job.steps)
      if (shows(request, job, step.id))
        ctx.out.write(sacct::line(request, columns, {job, &step, setting}));
  }
}

int show(context::Context& ctx, const Request& request) {
  const auto columns = sacct::choose(request.fields);
  if (!columns) return ctx.fail(columns.error());
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  const ge::Tools tools(ctx.runner, ctx.env, ctx.config.qacct_deadline);
  const auto now = ctx.clock.unix_ms() / 1000;
  queue::Source source{tools, ctx.config, std::nullopt, now};
  if (auto state = records::locate_state(ctx.runner, ctx.env, ctx.config.job_records))
    source.state = std::move(*state);
  auto users = users_of(ctx, request);
  if (!users) return ctx.fail(users.error());
  history::Request query;
  query.jobs = request.jobs;
  query.users = std::move(*users);
  query.caller = posix::user_name(ctx.runner, ctx.env);
  query.from = request.from;
  query.earlier_runs = request.duplicates;
  query.steps = request.steps;
  query.file = request.file;
  auto found = history::load(source, query);
  if (!found) return ctx.fail(found.error());
  for (const auto& warning : found->warnings)
    ctx.warning(warning);
  std::erase_if(found->entries, [&](const auto& entry) { return !sacct::keeps(request, entry); });
  Identities identities(ctx);
  sacct::Setting setting;
  setting.now = now;
  if (request.truncate) {
    setting.from = request.from;
    setting.to = request.to;
  }
  setting.time_format = request.time_format;
  setting.cluster = ge::cluster_name(ctx.env);
  setting.unit = request.unit;
  setting.convert = request.convert;
  setting.ids = [&](const std::string& user) { return identities(user); };
  if (request.json || request.yaml) {
    const auto text = sacct::to_json(found->entries, setting, ctx.config.compat_version);
    ctx.out.write(request.json ? text : json_to_yaml(text));
  } else if (request.scripts) {
    print_scripts(ctx, found->entries);
  } else {
    print(ctx, request, *columns, setting, found->entries);
  }
  return slurm::k_exit_ok;
}

// What is said without asking anybody: an exit code, or go on.
std::optional<int> answered(context::Context& ctx, const cli::Parsed& parsed) {
  if (parsed.has("helpformat")) {
    ctx.out.write(sacct::help_format());
    return slurm::k_exit_ok;
  }
  if (!parsed.rest.empty()) {
    ctx.error("Unknown arguments:");
    for (const auto& word : parsed.rest)
      ctx.error(" " + word);
    return slurm::k_exit_failure;
  }
  if (parsed.has("completion")) {
    ctx.say("Slurm job completion is disabled\n");
    return slurm::k_exit_failure;
  }
  return std::nullopt;
}

} // namespace

int run_sacct(context::Context& ctx, const std::vector<std::string>& words) {
  const auto opening = context::open(ctx, sacct_options(), k_help, words, false);
  if (opening.code) return *opening.code;
  if (const auto code = answered(ctx, opening.parsed)) return *code;
  const auto request = sacct::make_request(opening.parsed, ctx.env, ctx.clock.unix_ms() / 1000);
  if (!request) return tell(ctx, request.error());
  return show(ctx, *request);
}

} // namespace shim::commands
