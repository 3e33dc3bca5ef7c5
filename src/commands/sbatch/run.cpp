#include "prepare.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/commands/sbatch.h"
#include "slurm_shim/context/opening.h"
#include "slurm_shim/ge/jobs.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/submit/deliver.h"
#include "slurm_shim/submit/predecessors.h"
#include "slurm_shim/submit/refusal.h"
#include "slurm_shim/submit/surroundings.h"
#include "slurm_shim/submit/wait.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <set>

namespace shim::commands {

namespace {

using namespace sbatch;
using namespace submit;

constexpr cli::HelpFrame k_help{
    .synopsis = "sbatch [OPTIONS...] SCRIPT [ARGS...]",
    .description = "Submits a batch script to Grid Engine. Without SCRIPT it is read from standard "
                   "input.\nOptions come from the command line, SBATCH_* variables and #SBATCH "
                   "lines, in this order."};

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

class Run {
public:
  Run(context::Context& ctx, const std::vector<std::string>& words) : m_ctx(ctx), m_words(words) {}

  Result<int> operator()() {
    TRY_ASSIGN(const auto parsed, parse_words(m_words));
    if (context::answer_about_itself(m_ctx, sbatch_options(), k_help, parsed))
      return slurm::k_exit_ok;
    if (auto loaded = context::load_config(m_ctx); !loaded) return refuse(loaded.error().message);
    auto directory = posix::current_directory();
    if (!directory) return refuse(directory.error().message);
    m_now = m_ctx.clock.unix_ms() / 1000;
    TRY_ASSIGN(auto prepared, prepare(m_ctx, parsed, *directory, m_now));
    const auto& values = prepared.values;
    m_script = std::move(prepared.script);
    m_request = std::move(prepared.request);
    m_arguments = std::move(prepared.arguments);
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
  void print_notices(const std::vector<std::string>& lines) {
    for (const auto& line : lines)
      m_ctx.say(line + "\n");
  }

  Result<int> submit(const std::string& directory) {
    auto located = records::locate_state(m_ctx.runner, m_ctx.env, m_ctx.config.job_records);
    if (!located) return refuse(located.error().message);
    auto situation = look_around(m_ctx, m_request, *located, directory, m_now);
    situation.arguments = m_arguments;
    TRY_ASSIGN(auto facts, ask_engine(m_ctx, m_request));
    const ge::Tools tools(m_ctx.runner, m_ctx.env, m_ctx.config.qstat_timeout);
    ask_predecessors(tools, *located, situation.user, m_request, facts);
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
    if (!m_request.wait) return slurm::k_exit_ok;
    [[maybe_unused]] const int written = m_ctx.out.flush(); // the number is wanted now
    return wait_for_end(
        m_ctx, *located, {job, situation.user, situation.token, engine_tasks(submission)});
  }

  // The engine's numbers of the array's tasks.
  static std::vector<std::uint32_t> engine_tasks(const Submission& submission) {
    const auto ranges = ge::parse_task_ranges(submission.qsub.tasks);
    return ranges ? ge::expand_task_ranges(*ranges) : std::vector<std::uint32_t>{};
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
  const auto wanted = parse_int<int>(ctx.env.get_or("SLURM_EXIT_ERROR", ""));
  return wanted && *wanted >= 0 && *wanted <= 255 ? *wanted : code.error().exit_code;
}

} // namespace shim::commands
