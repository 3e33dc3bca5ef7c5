#include "columns.h"
#include "order.h"
#include "request.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/base/yaml.h"
#include "slurm_shim/commands/squeue.h"
#include "slurm_shim/context/opening.h"
#include "slurm_shim/ge/cell.h"
#include "slurm_shim/history/recent.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/queue/document.h"
#include "slurm_shim/queue/steps.h"
#include "slurm_shim/queue/targets.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <algorithm>
#include <ctime>

#include <unistd.h>

namespace shim::commands {

namespace {

using squeue::Request;

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
  if (request.me) return {self}; // whatever else, a variable's list for one, names users
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

std::string date_line(std::int64_t now) {
  const auto when = static_cast<std::time_t>(now);
  std::tm parts{};
  char text[64];
  ::localtime_r(&when, &parts);
  const auto size = std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y\n", &parts);
  return {text, size};
}

// One squeue call: what was asked for, and whom to ask.
class Listing {
public:
  Listing(context::Context& ctx, const Request& request, std::vector<std::string> words)
      : m_ctx(ctx), m_request(request), m_words(std::move(words)),
        m_tools(ctx.runner, ctx.env, ctx.config.qstat_timeout) {
    m_setting.time_format = request.time_format;
    m_setting.array_width = queue::array_width(ctx.env);
    m_setting.cluster = ge::cluster_name(ctx.env);
    if (auto state = records::locate_state(ctx.runner, ctx.env, ctx.config.job_records))
      m_state = std::move(*state);
  }

  int show() {
    m_setting.now = m_ctx.clock.unix_ms() / 1000;
    bool nobody = false;
    const auto users = users_of(m_ctx, m_request, nobody);
    if (const auto fine = check_hosts(m_tools, m_request); !fine) return tell(m_ctx, fine.error());
    auto& jobs = kept_jobs();
    jobs = {};
    if (!nobody) {
      auto loaded = load(users);
      if (!loaded) return m_ctx.fail(loaded.error());
      jobs = std::move(*loaded);
      if (is_unknown(users, jobs)) {
        m_ctx.say("slurm_load_jobs error: Invalid job id specified\n");
        return slurm::k_exit_failure;
      }
    }
    if (m_request.split_partitions) split_partitions(jobs);
    std::erase_if(jobs, [&](const auto& job) { return !squeue::keeps(m_request, job); });
    for (const auto& line : m_request.format.errors)
      m_ctx.error(line);
    if (m_request.steps)
      print_steps(queue::steps_of(source(), jobs));
    else if (m_request.output != squeue::Output::table)
      print_document(jobs);
    else
      print_jobs(jobs);
    return slurm::k_exit_ok;
  }

  // Until it is interrupted. A question that fails is told and asked again the next time.
  int repeat() {
    const bool redraw = ::isatty(STDOUT_FILENO) == 1;
    for (;;) {
      if (redraw) m_ctx.out.write("\x1b[H\x1b[2J");
      m_ctx.out.write(date_line(m_ctx.clock.unix_ms() / 1000));
      static_cast<void>(show());
      if (m_ctx.out.flush() != 0) return slurm::k_exit_failure;
      m_ctx.clock.sleep_for(std::chrono::seconds(m_request.iterate_s));
    }
  }

private:
  // The jobs of this listing. They are not destroyed with it: to give back the strings of tens of
  // thousands of jobs one by one costs as much as a good part of their lines, and the process ends.
  static std::vector<queue::Job>& kept_jobs() {
    static auto* const jobs = new std::vector<queue::Job>;
    return *jobs;
  }

  // A single id that is not in the queue: Slurm knows a job for a while after its end and says so
  // by an empty list; an id it never had is an error (spec commands 2.2). Who cannot be asked does
  // not know better.
  [[nodiscard]] bool is_unknown(const std::vector<std::string>& users,
                                const std::vector<queue::Job>& jobs) const {
    if (m_request.jobs.size() != 1 || m_request.steps) return false;
    if (m_ctx.config.squeue_unknown_job == "empty") return false;
    const auto job = m_request.jobs[0].job;
    if (std::ranges::find(jobs, job, &queue::Job::job) != jobs.end()) return false;
    if (m_ctx.config.squeue_unknown_job == "error") return true;
    const auto ended = ended_lately(users, jobs);
    return ended && ended->empty();
  }

  // What is neither in the queue nor in accounting yet is no line.
  [[nodiscard]] Result<std::vector<queue::Job>>
  ended_lately(const std::vector<std::string>& users, const std::vector<queue::Job>& live) const {
    history::Request request;
    request.jobs = m_request.jobs;
    request.users = users;
    request.caller = posix::user_name(m_ctx.runner, m_ctx.env);
    request.steps = false;
    TRY_ASSIGN(const auto entries, history::ended_lately(source(), std::move(request), live));
    std::vector<queue::Job> lines;
    for (const auto& entry : entries)
      if (!entry.live) lines.push_back(history::as_job(entry));
    return lines;
  }

  [[nodiscard]] queue::Source source() const {
    return {m_tools, m_ctx.config, m_state, m_setting.now};
  }

  [[nodiscard]] Result<std::vector<queue::Job>> load(const std::vector<std::string>& users) const {
    queue::Request query{.users = users,
                         .jobs = {},
                         .split_arrays = m_request.split_arrays,
                         .facts = m_request.format.needs_facts() || !m_request.accounts.empty() ||
                                  m_request.output != squeue::Output::table,
                         .starts = true,
                         .partitions = true};
    for (const auto& ref : m_request.jobs)
      query.jobs.push_back(ref.job);
    auto jobs = queue::load(source(), query);
    if (!jobs || !m_request.wants_ended()) return jobs;
    auto ended = ended_lately(users, *jobs);
    if (!ended) return ended;
    jobs->insert(jobs->end(),
                 std::make_move_iterator(ended->begin()),
                 std::make_move_iterator(ended->end()));
    return jobs;
  }

  // A pending job that may run in several partitions has a line for each.
  static void split_partitions(std::vector<queue::Job>& jobs) {
    std::vector<queue::Job> out;
    for (auto& job : jobs) {
      const auto names = job.partition;
      for (const auto name : split(names, ',')) {
        out.push_back(job);
        out.back().partition = name;
      }
    }
    jobs = std::move(out);
  }

  void print_header() const {
    std::string text;
    if (m_request.long_form && m_request.header && m_request.iterate_s == 0)
      text = date_line(m_setting.now);
    if (m_request.header) squeue::append_header(m_request.format, text);
    m_ctx.out.write(text);
  }

  void print_jobs(const std::vector<queue::Job>& jobs) const {
    print_header();
    std::string line;
    for (const auto* job : squeue::sorted(jobs, m_request.sort)) {
      line.clear();
      squeue::append_line(m_request.format, *job, m_setting, line);
      m_ctx.out.write(line);
    }
  }

  void print_steps(std::vector<queue::Step> steps) const {
    std::erase_if(steps, [&](const auto& step) { return !squeue::keeps(m_request, step); });
    squeue::sort_steps(steps, m_request.sort);
    print_header();
    for (const auto& step : steps) {
      std::string line;
      squeue::append_line(m_request.format, step, m_setting, line);
      m_ctx.out.write(line);
    }
  }

  void print_document(const std::vector<queue::Job>& jobs) const {
    const auto text = queue::jobs_document(squeue::sorted(jobs, m_request.sort),
                                           {.version = m_ctx.config.compat_version,
                                            .user = posix::user_name(m_ctx.runner, m_ctx.env),
                                            .words = m_words,
                                            .cluster = m_setting.cluster,
                                            .now = m_setting.now});
    m_ctx.out.write(m_request.output == squeue::Output::json ? text : json_to_yaml(text));
  }

  context::Context& m_ctx;
  const Request& m_request;
  std::vector<std::string> m_words;
  ge::Tools m_tools;
  std::optional<records::StatePaths> m_state;
  squeue::Setting m_setting;
};

} // namespace

int run_squeue(context::Context& ctx, const std::vector<std::string>& words) {
  auto opening = context::open(ctx, squeue_options(), k_help, words);
  if (opening.code) return *opening.code;
  auto& parsed = opening.parsed;
  if (const int code = take_loose_value(ctx, parsed); code != slurm::k_exit_ok) return code;
  const auto request = squeue::make_request(parsed, ctx.env);
  if (!request) return tell(ctx, request.error());
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  const auto clusters = cli::value_of(parsed, squeue_options(), ctx.env, "clusters");
  if (const auto known = queue::check_clusters(clusters, ctx.env); !known)
    return tell(ctx, known.error());
  auto command = words;
  command.insert(command.begin(), ctx.command);
  Listing listing(ctx, *request, std::move(command));
  return request->iterate_s > 0 ? listing.repeat() : listing.show();
}

} // namespace shim::commands
