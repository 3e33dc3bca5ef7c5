#include "slurm_shim/allocation/allocation.h"

#include "session.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/records/interactive.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/submit/deliver.h"
#include "slurm_shim/submit/refusal.h"
#include "slurm_shim/submit/surroundings.h"
#include "slurm_shim/submit/translate.h"

namespace shim::allocation {

namespace {

// What qsub has and qrsh has not. `array` is no option of salloc and srun.
Result<void> refuse_unknown(const ge::QsubRequest& qsub) {
  for (const auto& name : ge::unknown_to_qrsh(qsub))
    return submit::refuse("--" + name +
                          ": Grid Engine cannot delay an interactive job; use sbatch");
  return {};
}

std::string packed(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words)
    out += word + '\0';
  return out;
}

class Run {
public:
  Run(context::Context& ctx, const Wanted& wanted, const Voice& voice)
      : m_ctx(ctx), m_wanted(wanted), m_voice(voice) {}

  Result<int> operator()() {
    auto state = records::locate_state(m_ctx.runner, m_ctx.env, m_ctx.config.job_records);
    if (!state) return submit::refuse(state.error().message);
    auto directory = posix::current_directory();
    if (!directory) return submit::refuse(directory.error().message);
    const auto now = m_ctx.clock.unix_ms() / 1000;
    const auto situation = submit::look_around(m_ctx, m_wanted.job, *state, *directory, now);
    auto request = m_wanted.job;
    TRY(submit::verify_submission(request, now));
    TRY_ASSIGN(const auto facts, submit::ask_engine(m_ctx, request));
    submit::Script no_script;
    if (request.test_only) no_script.text = "#!/bin/sh\n"; // qsub judges it and wants one
    TRY_ASSIGN(auto submission,
               submit::translate(request, no_script, m_ctx.config, facts, situation));
    TRY(refuse_unknown(submission.qsub));
    submission.record.set("argv", packed(m_wanted.command));
    submission.record.set_int("requeue", 0); // qrsh would not come back with the job
    tell(submission);
    const submit::Delivery delivery{m_ctx, *state, situation, request, no_script, m_wanted.words};
    if (m_wanted.job.test_only) {
      TRY_ASSIGN(const auto line, submit::try_only(delivery, submission));
      m_ctx.say(reworded(line, m_ctx.command, m_voice.failure));
      return slurm::k_exit_ok;
    }
    TRY_ASSIGN(const auto self, posix::self_path());
    ge::InteractiveRequest call;
    call.at_once = m_wanted.immediate_s && *m_wanted.immediate_s <= 1;
    call.stdin_closed = m_wanted.stdin_closed && !m_wanted.pty;
    call.command = {self, "batch-exec"};
    if (m_wanted.pty) call.command.emplace_back(records::k_terminal_word);
    TRY_ASSIGN(auto job, submit::InteractiveJob::prepare(delivery, submission, call));
    return Session(m_ctx, m_wanted, m_voice, *state, job).run();
  }

private:
  void tell(const submit::Submission& submission) const {
    for (const auto& line : submission.notices)
      m_ctx.say(reworded(line, m_ctx.command, m_voice.failure) + "\n");
    if (m_wanted.job.quiet) return;
    for (const auto& text : submission.warnings)
      m_ctx.warning(text);
  }

  context::Context& m_ctx;
  const Wanted& m_wanted;
  const Voice& m_voice;
};

} // namespace

std::string reworded(std::string_view text, std::string_view command, std::string_view failure) {
  constexpr std::string_view k_prefix = "sbatch: ";
  constexpr std::string_view k_failure = "Batch job submission failed: ";
  std::string out;
  for (auto line : split(text, '\n')) {
    if (!out.empty()) out += '\n';
    if (line.starts_with(k_prefix)) {
      out += std::string(command) + ": ";
      line.remove_prefix(k_prefix.size());
    }
    const auto at = line.find(k_failure);
    if (at == std::string_view::npos) {
      out += line;
      continue;
    }
    out += std::string(line.substr(0, at)) + std::string(failure) + ": ";
    out += line.substr(at + k_failure.size());
  }
  return out;
}

int run(context::Context& ctx, const Wanted& wanted, const Voice& voice) {
  const auto code = Run(ctx, wanted, voice)();
  if (code) return *code;
  ctx.say(reworded(code.error().message, ctx.command, voice.failure) + "\n");
  return code.error().exit_code;
}

} // namespace shim::allocation
