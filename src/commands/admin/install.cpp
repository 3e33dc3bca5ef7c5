// plan -> print -> apply. Nothing is written before every precondition holds.
#include "install_apply.h"
#include "install_options.h"
#include "install_print.h"

#include "slurm_shim/commands/admin.h"
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
    if (action.op != Action::Op::create && action.op != Action::Op::modify) continue;
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

int apply(context::Context& ctx,
          const Plan& plan,
          const InstallFacts& facts,
          const InstallOptions& options) {
  const ge::Tools tools(ctx.runner, ctx.env, std::chrono::seconds(60));
  const ge::Qconf qconf(tools);
  const auto say = [&](const std::string& line) {
    if (!options.json) ctx.out.write(line + "\n");
  };
  const auto applied = apply_plan(plan, facts, options, qconf, ctx.runner, say);
  const auto manifest = write_manifest(plan, applied.done, options, ctx.runner, ctx.clock);
  if (!manifest) ctx.warning("manifest: " + manifest.error().message);
  if (!applied.error) {
    say("installed; nothing is left to do");
    return slurm::k_exit_ok;
  }
  ctx.error(applied.error->message);
  const auto undo = undo_commands(plan, applied.done);
  if (undo.empty()) return k_exit_partial;
  ctx.say("What was done before stays. Commands that take it back, newest first:\n");
  for (const auto& command : undo)
    ctx.say("  " + command + "\n");
  return k_exit_partial;
}

} // namespace

int run_install(context::Context& ctx,
                const std::vector<std::string>& words,
                const std::vector<std::string>& links) {
  auto options = parse_install_options(words);
  if (!options) return ctx.fail(std::move(options).error().context("install"));
  if (options->help) {
    ctx.out.write(options->help_text);
    return slurm::k_exit_ok;
  }
  auto facts = gather_facts(ctx, *options, links);
  if (!facts) return ctx.fail(std::move(facts).error().context("install"));
  const auto plan = make_plan(*facts, *options, links);
  ctx.out.write(options->json ? plan_json(plan, *facts, *options)
                              : plan_text(plan, *facts, *options, options->apply));
  const bool blocked = plan.count(Action::Op::blocked) > 0;
  if (!options->apply) return blocked ? k_exit_blocked : slurm::k_exit_ok;
  if (auto rights = check_rights(plan, *facts, *options); !rights)
    return ctx.fail(std::move(rights).error().context("install"));
  if (blocked) {
    ctx.error("install: the plan has blocked entries, nothing was changed");
    return k_exit_blocked;
  }
  if (!plan.changes_anything()) return slurm::k_exit_ok;
  if (!confirmed(ctx, *options)) {
    ctx.error("install: not confirmed, nothing was changed");
    return slurm::k_exit_failure;
  }
  return apply(ctx, plan, *facts, *options);
}

} // namespace shim::commands
