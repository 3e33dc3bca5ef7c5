// plan -> print -> apply. Nothing is written before every precondition holds.
#include "install_apply.h"
#include "install_manifest.h"
#include "install_options.h"
#include "install_print.h"

#include "slurm_shim/commands/admin.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <cerrno>

#include <unistd.h>

namespace shim::commands {

namespace {

using namespace admin;

// Spec install-doctor-ports 1.4.
constexpr int k_exit_blocked = 2;
constexpr int k_exit_partial = 3;

// Everything that must hold before the first change.
Result<void>
check_rights(const Plan& plan, const InstallFacts& facts, const InstallOptions& options) {
  bool engine = false;
  bool files = false;
  for (const auto& action : plan.actions) {
    if (!action.changes()) continue;
    if (action.kind == Action::Kind::pe || action.kind == Action::Kind::queue)
      engine = true;
    else
      files = true;
  }
  if (engine && !facts.is_manager)
    return fail(ErrorKind::refused,
                "needs Grid Engine manager rights (user " + facts.user +
                    " is not in \"qconf -sm\")");
  if (engine && !facts.is_admin_host)
    return fail(ErrorKind::refused,
                "must run on an administrative host (" + facts.host + " is not in \"qconf -sh\")");
  if (files && !facts.prefix_writable)
    return fail(ErrorKind::refused, options.prefix + " cannot be written by user " + facts.user);
  return {};
}

// Asks on a terminal; without one, --apply is consent enough.
bool confirmed(context::Context& ctx, const InstallOptions& options) {
  if (options.yes || ::isatty(0) == 0) return true;
  ctx.say("Apply this plan? [y/N] ");
  char answer = 'n';
  char c = 0;
  bool first = true;
  while (::read(0, &c, 1) == 1 && c != '\n') {
    if (first) answer = c;
    first = false;
  }
  return answer == 'y' || answer == 'Y';
}

// A blocked entry without which the rest is worth nothing.
const Action* needed_but_blocked(const Plan& plan, const InstallOptions& options) {
  for (const auto& action : plan.actions)
    if (action.op == Action::Op::blocked &&
        (action.kind == Action::Kind::file || action.kind == Action::Kind::link ||
         (action.kind == Action::Kind::pe && !options.uninstall)))
      return &action;
  return nullptr;
}

// Prints everything at its time: the plan first, or one JSON document at the end.
class Run {
public:
  Run(context::Context& ctx,
      const Plan& plan,
      const InstallFacts& facts,
      const InstallOptions& options)
      : m_ctx(ctx), m_plan(plan), m_facts(facts), m_options(options) {}

  int run() {
    if (!m_options.json) m_ctx.out.write(plan_text(m_plan, m_facts, m_options, m_options.apply));
    const int code = decide();
    if (m_options.json) m_ctx.out.write(plan_json(m_plan, m_facts, m_options, m_outcome));
    return code;
  }

private:
  int decide() {
    const bool blocked = m_plan.count(Action::Op::blocked) > 0;
    if (!m_options.apply) return blocked ? k_exit_blocked : slurm::k_exit_ok;
    if (const auto rights = check_rights(m_plan, m_facts, m_options); !rights)
      return end("refused", rights.error().message, slurm::k_exit_failure);
    if (blocked && !m_options.skip_blocked)
      return end("blocked", "the plan has blocked entries, nothing was changed", k_exit_blocked);
    if (const auto* needed = needed_but_blocked(m_plan, m_options))
      return end("blocked",
                 needed->target + " is blocked and cannot be skipped, nothing was changed",
                 k_exit_blocked);
    if (!m_plan.changes_anything()) return end("unchanged", "", slurm::k_exit_ok);
    if (!m_options.json && !confirmed(m_ctx, m_options))
      return end("refused", "not confirmed, nothing was changed", slurm::k_exit_failure);
    return apply();
  }

  int end(const std::string& result, const std::string& error, int code) {
    m_outcome.result = result;
    m_outcome.error = error;
    if (!error.empty()) m_ctx.error("install: " + error);
    return code;
  }

  void warn(const std::string& text) {
    m_outcome.warnings.push_back(text);
    m_ctx.warning("install: " + text);
  }

  int apply() {
    const ge::Tools tools(m_ctx.runner, m_ctx.env, std::chrono::seconds(60));
    const ge::Qconf qconf(tools);
    const auto say = [&](const std::string& line) {
      if (!m_options.json) m_ctx.out.write(line + "\n");
    };
    auto applied = apply_plan(
        m_plan, m_facts, m_options, qconf, tools, m_ctx.runner, say, [&](const std::string& text) {
          warn(text);
        });
    if (!m_options.uninstall && applied.done > 0)
      if (const auto written =
              write_manifest(m_plan, applied.done, m_options, m_ctx.runner, m_ctx.clock);
          !written)
        warn("manifest: " + written.error().message);
    if (!applied.error) {
      say(m_options.uninstall ? "uninstalled" : "installed; nothing is left to do");
      return end("applied", "", slurm::k_exit_ok);
    }
    m_outcome.undo = std::move(applied.undo);
    const int code = end("failed", applied.error->message, k_exit_partial);
    if (m_options.uninstall) {
      m_ctx.say("What was removed before stays removed; run it again when the reason is gone.\n");
      return code;
    }
    print_list("Taken back, newest first:\n", m_outcome.undo.undone);
    print_list("Not taken back; these commands do it:\n", m_outcome.undo.left);
    return code;
  }

  void print_list(const std::string& heading, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    m_ctx.say(heading);
    for (const auto& line : lines)
      m_ctx.say("  " + line + "\n");
  }

  context::Context& m_ctx;
  const Plan& m_plan;
  const InstallFacts& m_facts;
  const InstallOptions& m_options;
  Outcome m_outcome;
};

Result<Plan> plan_of(context::Context& ctx,
                     const InstallFacts& facts,
                     const InstallOptions& options,
                     const std::vector<std::string>& links) {
  if (!options.uninstall) return make_plan(facts, options, links);
  TRY_ASSIGN(const auto manifest, read_manifest(manifest_path(options)));
  std::vector<std::string> files;
  for (const auto& [path, sum] : manifest.files)
    if (posix::exists(path)) files.push_back(path);
  return make_uninstall_plan(facts, options, manifest, checksums(ctx.runner, files));
}

} // namespace

int run_install(context::Context& ctx,
                const std::vector<std::string>& words,
                const ShippedProgram& program) {
  auto options = parse_install_options(words);
  if (!options) return ctx.fail(std::move(options).error().context("install"));
  if (options->help) {
    ctx.out.write(*options->help);
    return slurm::k_exit_ok;
  }
  auto facts = gather_facts(ctx, *options, program);
  if (!facts) return ctx.fail(std::move(facts).error().context("install"));
  const auto plan = plan_of(ctx, *facts, *options, program.links);
  if (!plan) return ctx.fail(Error(plan.error()).context("install"));
  return Run(ctx, *plan, *facts, *options).run();
}

} // namespace shim::commands
