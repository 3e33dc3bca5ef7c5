// slurm-shim doctor: runs the checks in order and prints the report.
#include "slurm_shim/commands/doctor.h"

#include "checks.h"
#include "host_report.h"
#include "options.h"
#include "probe.h"
#include "report.h"

#include "slurm_shim/config/lines.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <fmt/core.h>

#include <algorithm>

namespace shim::commands {

namespace {

using namespace doctor;
using Needs = Check::Needs;

constexpr int k_exit_not_run = 2;
constexpr std::chrono::milliseconds k_check_limit{10000};

// Loads what the commands would load; a file that does not load is C13's to tell.
void load_config_of(Survey& s) {
  s.config_path = s.options.config_file.empty()
                      ? config::locate(s.ctx.env, posix::self_path().value_or(""))
                      : s.options.config_file;
  if (s.config_path.empty()) return;
  auto loaded = config::load_file(s.config_path, s.config_lines);
  if (!loaded) {
    s.config_error = std::move(loaded).error();
    return;
  }
  s.ctx.config = std::move(loaded->config);
  s.config_warnings = std::move(loaded->warnings);
}

bool is_wanted(const Check& check, const Options& options) {
  if (!options.checks.empty())
    return std::find(options.checks.begin(), options.checks.end(), check.id) !=
           options.checks.end();
  if (!options.config_file.empty()) return check.id == "C13";
  return check.needs != Needs::probe || options.probe;
}

Result<void> check_ids(const Options& options) {
  for (const auto& id : options.checks) {
    const auto known = std::any_of(all_checks().begin(),
                                   all_checks().end(),
                                   [&](const auto& check) { return check.id == id; });
    if (!known)
      return fail(ErrorKind::usage, "--check: \"" + id + "\" is no check (--list shows them)");
    if (id.starts_with('P') && !options.probe)
      return fail(ErrorKind::usage, "--check: " + id + " needs --probe");
  }
  return {};
}

Finding run_check(Survey& s, const Check& check) {
  // A check that was chosen alone has to know of the qmaster, too.
  if (check.needs == Needs::engine && s.recorder.engine_is_down())
    return {Status::skip, "the qmaster does not answer (C03)", {}};
  auto finding = check.run(s);
  if (finding) return *finding;
  if (s.recorder.engine_is_down()) return {Status::skip, "the qmaster does not answer (C03)", {}};
  return {Status::warn,
          "could not be checked: " + masked(finding.error().message),
          {"run the command of the evidence (--json) by hand"}};
}

std::vector<Line> run_checks(Survey& s) {
  std::vector<Line> lines;
  std::string hosts_error;
  bool asked_hosts = false;
  for (const auto& check : all_checks()) {
    if (!is_wanted(check, s.options) || check.run == nullptr) continue;
    // C17 looks at this host in any case, and at the others where they are asked.
    const bool uses_hosts = check.needs == Needs::hosts || check.run == check_spool;
    if (uses_hosts && !s.options.hosts.empty() && !asked_hosts) {
      asked_hosts = true;
      if (const auto asked = ask_hosts(s); !asked) hosts_error = asked.error().message;
    }
    s.recorder.begin(k_check_limit);
    Line line{&check, {}, {}};
    if (check.needs == Needs::hosts && !hosts_error.empty())
      line.finding = {Status::warn,
                      "no host was asked: " + hosts_error,
                      {"run doctor --hosts as a user who may submit jobs"}};
    else
      line.finding = run_check(s, check);
    line.evidence = s.recorder.take_evidence();
    lines.push_back(std::move(line));
  }
  if (!s.options.probe) return lines;
  const auto findings = judge_probe(run_probe(s));
  std::size_t i = 0;
  for (const auto& check : all_checks()) {
    if (check.needs != Needs::probe) continue;
    const auto& finding = findings.at(i++);
    if (is_wanted(check, s.options)) lines.push_back({&check, finding, {}});
  }
  return lines;
}

void print_list(context::Context& ctx) {
  for (const auto& check : all_checks())
    ctx.out.write(fmt::format("{} {}{}\n",
                              check.id,
                              check.name,
                              check.needs == Needs::hosts   ? " (--hosts)"
                              : check.needs == Needs::probe ? " (--probe)"
                                                            : ""));
}

} // namespace

int run_doctor(context::Context& ctx,
               const std::vector<std::string>& words,
               const std::vector<std::string>& links) {
  auto options = parse_options(words);
  auto ids = options ? check_ids(*options) : Result<void>{};
  for (const auto* error : {options ? nullptr : &options.error(), ids ? nullptr : &ids.error()})
    if (error != nullptr) {
      ctx.error("doctor: " + error->message);
      return k_exit_not_run;
    }
  if (options->help) {
    ctx.out.write(*options->help);
    return slurm::k_exit_ok;
  }
  if (options->list) {
    print_list(ctx);
    return slurm::k_exit_ok;
  }
  if (options->host_report) return print_host_report(ctx, *options);
  if (!options->config_file.empty() && !posix::exists(options->config_file)) {
    ctx.error("doctor: --config: " + options->config_file + ": No such file or directory");
    return k_exit_not_run;
  }
  Survey survey(ctx, *options, links);
  load_config_of(survey);
  Heading heading;
  heading.shim = SHIM_VERSION;
  heading.host = posix::host_name();
  heading.user = posix::user_name(survey.recorder, ctx.env);
  heading.config = survey.config_path;
  heading.time = ctx.clock.unix_ms() / 1000;
  if (options->config_file.empty())
    if (const auto engine = survey.qconf.engine_version()) heading.engine = *engine;
  const auto lines = run_checks(survey);
  ctx.out.write(options->json ? report_json(heading, lines)
                              : report_text(heading, lines, options->quiet));
  return exit_code_of(lines, options->strict);
}

} // namespace shim::commands
