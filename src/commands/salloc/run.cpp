#include "slurm_shim/allocation/allocation.h"
#include "slurm_shim/base/strings.h"
#include "slurm_shim/commands/salloc.h"
#include "slurm_shim/context/opening.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/slurm/words.h"
#include "slurm_shim/submit/refusal.h"

#include <algorithm>

#include <unistd.h>

namespace shim::commands {

namespace {

constexpr cli::HelpFrame k_help{
    .synopsis = "salloc [OPTIONS...] [COMMAND [ARGS...]]",
    .description = "Waits for a job and runs COMMAND, or a shell, on its first host; the job ends "
                   "with it.\nOptions come from the command line and SALLOC_* variables."};

std::string shell_of_user(const context::Context& ctx) {
  const auto shell = ctx.env.get_or("SHELL", "");
  return shell.starts_with('/') ? shell : "/bin/sh";
}

class Run {
public:
  Run(context::Context& ctx, const std::vector<std::string>& words) : m_ctx(ctx), m_words(words) {}

  Result<int> operator()() {
    auto parsed = cli::parse(salloc_options(), m_words, {.command = "salloc"});
    if (!parsed) {
      parsed.error().exit_code = slurm::k_exit_usage;
      return tl::unexpected<Error>(std::move(parsed).error());
    }
    if (context::answer_about_itself(m_ctx, salloc_options(), k_help, *parsed))
      return slurm::k_exit_ok;
    if (const auto loaded = context::load_config(m_ctx); !loaded)
      return submit::refuse(loaded.error().message);
    allocation::Wanted wanted;
    wanted.words = m_words;
    TRY(allocation::read_values(m_ctx, salloc_options(), parsed->given, wanted));
    wanted.bell = parsed->has("bell") || m_ctx.env.has("SALLOC_BELL");
    if (wanted.job.hint == "help") {
      m_ctx.out.write(slurm::hint_help());
      return slurm::k_exit_failure;
    }
    if (auto refused = cli::refuse_unsupported(*parsed, m_ctx.config.strict_flags); !refused)
      return submit::refuse(refused.error().message, slurm::k_exit_usage);
    for (const auto& line : wanted.job.notices)
      m_ctx.say(reworded(line) + "\n");
    if (!wanted.job.quiet)
      for (const auto& text : cli::warnings_of(*parsed))
        m_ctx.warning(text);
    if (!wanted.job.name) wanted.job.name = "interactive";
    wanted.command = parsed->rest;
    if (!wanted.command.empty() && wanted.command.front() == ":")
      return submit::refuse("heterogeneous jobs are not supported", slurm::k_exit_usage);
    const bool is_shell = wanted.command.empty();
    if (is_shell) wanted.command = {shell_of_user(m_ctx)};
    // On a terminal the command gets one, as if it ran here; what is redirected stays apart.
    wanted.pty = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1 &&
                 (is_shell || ::isatty(STDERR_FILENO) == 1);
    return allocation::run(m_ctx, wanted, allocation::k_salloc);
  }

  [[nodiscard]] std::string reworded(std::string_view text) const {
    return allocation::reworded(text, m_ctx.command, allocation::k_salloc.failure);
  }

private:
  context::Context& m_ctx;
  const std::vector<std::string>& m_words;
};

} // namespace

int run_salloc(context::Context& ctx, const std::vector<std::string>& words) {
  Run run(ctx, words);
  const auto code = run();
  if (code) return *code;
  ctx.say(run.reworded(code.error().message) + "\n");
  return code.error().exit_code;
}

} // namespace shim::commands
