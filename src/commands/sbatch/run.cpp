#include "deliver.h"
#include "input.h"
#include "refusal.h"
#include "script.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/cli/help.h"
#include "slurm_shim/commands/sbatch.h"
#include "slurm_shim/ge/jobs.h"
#include "slurm_shim/ge/qconf.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/records/sweep.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <set>

namespace shim::commands {

namespace {

using namespace sbatch;

constexpr std::array<std::string_view, 4> k_passed{
    "SLURM_SHIM_CONFIG", "SLURM_SHIM_TASK_POLICY", "SLURM_SHIM_DISABLE", "SLURM_SHIM_GE_BIN"};

constexpr std::chrono::milliseconds k_sweep_budget{1000};

constexpr cli::HelpFrame k_help{
    .synopsis = "sbatch [OPTIONS...] SCRIPT [ARGS...]",
    .description = "Submits a batch script to Grid Engine. Without SCRIPT it is read from standard "
                   "input.\nOptions come from the command line, SBATCH_* variables and #SBATCH "
                   "lines, in this order."};

// --help, --usage and --version: whichever was written first.
bool answer_early(context::Context& ctx, const cli::Parsed& parsed) {
  for (const auto& given : parsed.given) {
    const auto name = given.option->name;
    if (name == "help") ctx.out.write(cli::help_text(sbatch_options(), k_help));
    if (name == "usage") ctx.out.write(cli::usage_text(sbatch_options(), k_help));
    if (name == "version") ctx.out.write(context::version_text(ctx));
    if (name == "help" || name == "usage" || name == "version") return true;
  }
  return false;
}

Result<Script>
get_script(const context::Context& ctx, const cli::Parsed& parsed, const std::string& directory) {
  const auto* wrap = parsed.last("wrap");
  if (!parsed.rest.empty() && parsed.rest.front() == ":")
    return refuse("heterogeneous jobs are not supported", slurm::k_exit_usage);
  if (wrap != nullptr && !parsed.rest.empty())
    return refuse("Script arguments not permitted with --wrap option");
  if (wrap != nullptr) return wrap_script(wrap->value.value_or(""));
  TRY_ASSIGN(auto script,
             load_script(parsed.rest.empty() ? "" : parsed.rest.front(), ctx.env, directory));
  TRY(check_script(script.text));
  return script;
}

// -v: what was asked for, as Slurm lists it.
void tell_options(const context::Context& ctx, const std::vector<cli::Given>& given, int verbose) {
  std::map<std::string_view, std::string> shown;
  for (const auto& value : given)
    shown[value.option->name] = value.value.value_or("set");
  shown["verbose"] = std::to_string(verbose);
  constexpr std::string_view k_rule = "sbatch: -------------------- --------------------\n";
  ctx.say("sbatch: defined options\n");
  ctx.say(k_rule);
  for (const auto& [name, value] : shown)
    ctx.say(fmt::format("sbatch: {:<20}: {}\n", name, value));
  ctx.say(k_rule);
  ctx.say("sbatch: end of defined options\n");
}

// How the memory complex is counted, from its row in `qconf -sc`.
std::string memory_kind(const ge::Qconf& qconf, const std::string& complex) {
  const auto complexes = qconf.complexes();
  if (!complexes) return "slot";
  for (const auto& row : *complexes)
    if (row.name == complex || row.shortcut == complex) {
      if (row.consumable == "HOST") return "host";
      if (row.consumable == "JOB") return "job";
    }
  return "slot"; // a queue's limit, too, is for each slot
}

Result<EngineFacts> ask_engine(const context::Context& ctx, const Request& request) {
  EngineFacts facts;
  const ge::Tools tools(ctx.runner, ctx.env, ctx.config.qstat_timeout);
  const auto abilities = ge::probe_qsub(tools);
  if (!abilities) return refuse(abilities.error().message);
  facts.has_par = abilities->par;
  const ge::Qconf qconf(tools);
  if (ctx.config.partitions.empty() && request.partition)
    if (auto queues = qconf.list("-sql")) facts.queues = std::move(*queues);
  if (request.nodelist || request.exclude)
    if (auto hosts = qconf.list("-sel")) facts.hosts = std::move(*hosts);
  if (request.memory && ctx.config.memory_consumable == "auto")
    facts.memory_kind = memory_kind(qconf, ctx.config.memory_complex);
  return facts;
}

Situation look_around(const context::Context& ctx,
                      const records::StatePaths& state,
                      const std::string& directory,
                      std::time_t now) {
  Situation s;
  s.directory = directory;
  s.host = posix::host_name();
  s.user = posix::user_name(ctx.runner, ctx.env);
  s.cluster = ctx.env.get_or("SGE_CELL", "default");
  s.token = records::new_token();
  s.state = state.root();
  s.log = state.log_file(s.token);
  s.now = now;
  for (const auto name : k_passed)
    if (!ctx.env.get_or(name, "").empty()) s.passed_variables.emplace_back(name);
  return s;
}

// Old files of the state folder, at most once a day and never long.
void sweep_state(const context::Context& ctx,
                 const records::StatePaths& state,
                 const std::string& user) {
  if (!records::sweep_is_due(state, ctx.clock)) return;
  const auto alive = [&]() -> Result<std::set<std::int64_t>> {
    const ge::Tools tools(ctx.runner, ctx.env, k_sweep_budget);
    TRY_ASSIGN(const auto rows, ge::list_jobs(tools, {user}, ge::TaskView::jobs));
    std::set<std::int64_t> jobs;
    for (const auto& row : rows)
      jobs.insert(static_cast<std::int64_t>(row.job));
    return jobs;
  };
  // What could not be removed today is tried again tomorrow.
  [[maybe_unused]] const auto swept = records::sweep(state, ctx.clock, alive, k_sweep_budget);
}

class Run {
public:
  Run(context::Context& ctx, const std::vector<std::string>& words) : m_ctx(ctx), m_words(words) {}

  Result<int> operator()() {
    TRY_ASSIGN(const auto parsed, parse_words(m_words));
    if (answer_early(m_ctx, parsed)) return slurm::k_exit_ok;
    if (auto loaded = context::load_config(m_ctx); !loaded) return refuse(loaded.error().message);
    auto directory = posix::current_directory();
    if (!directory) return refuse(directory.error().message);
    m_now = m_ctx.clock.unix_ms() / 1000;
    TRY(check_command_line(parsed));
    TRY_ASSIGN(m_script, get_script(m_ctx, parsed, *directory));
    TRY_ASSIGN(auto values, collect_values(parsed, m_ctx.env, m_script));
    TRY(apply_values(values.given, m_now, m_request));
    if (m_request.hint == "help") {
      m_ctx.out.write(slurm::hint_help());
      return slurm::k_exit_failure;
    }
    TRY(verify_request(m_request));
    if (m_request.verbose > 0) tell_options(m_ctx, values.given, m_request.verbose);
    if (auto refused = cli::refuse_unsupported(values.as_parsed(), m_ctx.config.strict_flags);
        !refused)
      return refuse(refused.error().message, slurm::k_exit_usage);
    m_warnings = cli::warnings_of(values.as_parsed());
    m_warnings.insert(m_warnings.end(), values.warnings.begin(), values.warnings.end());
    print_notices(m_request.notices);
    TRY(verify_submission(m_request, m_now));
    if (!parsed.rest.empty()) m_arguments.assign(parsed.rest.begin() + 1, parsed.rest.end());
    return submit(*directory);
  }

  // --test-only speaks of an allocation where a submission would fail.
  [[nodiscard]] std::string reword(std::string message) const {
    constexpr std::string_view k_submission = "sbatch: error: Batch job submission failed: ";
    const auto at = message.find(k_submission);
    if (m_request.test_only && at != std::string::npos)
      message.replace(at, k_submission.size(), "allocation failure: ");
    return message;
  }

private:
  // Slurm judges the command line before it looks at the script.
  [[nodiscard]] Result<void> check_command_line(const cli::Parsed& parsed) const {
    Request scratch;
    return apply_values(parsed.given, m_now, scratch);
  }

  void print_notices(const std::vector<std::string>& lines) {
    for (const auto& line : lines)
      m_ctx.say(line + "\n");
  }

  Result<int> submit(const std::string& directory) {
    auto located = records::locate_state(m_ctx.runner, m_ctx.env, m_ctx.config.job_records);
    if (!located) return refuse(located.error().message);
    auto situation = look_around(m_ctx, *located, directory, m_now);
    situation.arguments = m_arguments;
    TRY_ASSIGN(const auto facts, ask_engine(m_ctx, m_request));
    TRY_ASSIGN(auto submission, translate(m_request, m_script, m_ctx.config, facts, situation));
    print_notices(submission.notices);
    const Delivery delivery{m_ctx, *located, situation, m_request, m_script, m_words};
    if (m_request.test_only) {
      TRY_ASSIGN(const auto line, try_only(delivery, submission));
      m_ctx.say(line);
      return slurm::k_exit_ok;
    }
    TRY_ASSIGN(const auto job, deliver(delivery, submission));
    print_result(job, situation, submission);
    sweep_state(m_ctx, *located, situation.user);
    return slurm::k_exit_ok;
  }

  // Warnings only now: of a job that was refused they are noise.
  void print_result(std::int64_t job, const Situation& situation, const Submission& submission) {
    if (m_request.quiet) return;
    m_warnings.insert(m_warnings.end(), submission.warnings.begin(), submission.warnings.end());
    std::set<std::string_view> told;
    for (const auto& text : m_warnings)
      if (told.insert(text).second) m_ctx.warning(text);
    const bool named = m_request.clusters.has_value();
    if (m_request.parsable)
      m_ctx.out.write(fmt::format("{}{}\n", job, named ? ";" + situation.cluster : ""));
    else
      m_ctx.out.write(fmt::format(
          "Submitted batch job {}{}\n", job, named ? " on cluster " + situation.cluster : ""));
  }

  context::Context& m_ctx;
  const std::vector<std::string>& m_words;
  std::vector<std::string> m_arguments;
  std::time_t m_now = 0;
  Script m_script;
  Request m_request;
  std::vector<std::string> m_warnings;
};

} // namespace

int run_sbatch(context::Context& ctx, const std::vector<std::string>& words) {
  Run run(ctx, words);
  const auto code = run();
  if (code) return *code;
  ctx.say(run.reword(code.error().message) + "\n");
  return code.error().exit_code;
}

} // namespace shim::commands
