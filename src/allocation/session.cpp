#include "session.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/tools.h"
#include "slurm_shim/posix/signals.h"
#include "slurm_shim/records/job_record.h"
#include "slurm_shim/records/mailbox.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/submit/refusal.h"

#include <algorithm>
#include <csignal>

#include <poll.h>
#include <sys/wait.h>

namespace shim::allocation {

namespace {

using namespace std::chrono_literals;

// A scheduler that is not busy answers within this time; only what takes longer is told.
constexpr auto k_told_after = 3s;
constexpr auto k_mail_period = 300ms;
// How long a job that has just begun may be without its supervisor.
constexpr auto k_mail_patience = 10s;
constexpr auto k_qrsh_patience = 3s;
constexpr auto k_double_interrupt = 1s;
constexpr auto k_record_patience = 2s;
constexpr auto k_record_period = 100ms;

bool is_ending(int number) {
  return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

} // namespace

Result<int> Session::run() {
  TRY(start());
  while (!m_status || !m_streams.are_drained()) {
    turn();
    look_at_talk();
    look_at_clock();
    reap();
  }
  m_streams.leave_terminal();
  return conclude();
}

Result<void> Session::start() {
  TRY_ASSIGN(m_signals,
             posix::block_into_signalfd(
                 {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD, SIGPIPE}));
  const auto program = ge::locate_tool(m_ctx.env, "qrsh");
  if (!program) return submit::refuse(program.error().message);
  posix::SpawnRequest child;
  child.argv = m_job.args();
  child.argv.insert(child.argv.begin(), "qrsh");
  child.program = *program;
  child.env = m_job.environment();
  // Whatever becomes of us: a job whose qrsh has gone is ended by the engine.
  child.parent_death_signal = SIGKILL;
  const auto opened = m_streams.open(m_wanted.pty, m_wanted.stdin_closed, child);
  if (!opened) return submit::refuse(opened.error().message);
  const auto process = posix::spawn(child);
  if (!process) return submit::refuse(process.error().message());
  m_streams.started();
  m_qrsh = process->pid;
  return {};
}

void Session::turn() {
  std::vector<pollfd> polls;
  m_streams.add_polls(polls);
  polls.push_back({m_signals.get(), POLLIN, 0});
  if (::poll(polls.data(), polls.size(), patience_ms()) < 0) return;
  const bool has_signal = polls.back().revents != 0;
  polls.pop_back();
  m_streams.handle(polls);
  if (!has_signal) return;
  for (int number = posix::take_signal(m_signals.get()); number != 0;
       number = posix::take_signal(m_signals.get()))
    on_signal(number);
}

int Session::patience_ms() const {
  constexpr auto k_longest = 1s; // a reaped qrsh leaves streams that end at any moment
  auto wake = Steady::now() + k_longest;
  for (const auto& time : {m_next_mail, m_kill_at})
    if (time) wake = std::min(wake, *time);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(wake - Steady::now());
  return static_cast<int>(std::max<std::int64_t>(0, left.count()));
}

void Session::look_at_talk() {
  const auto& talk = m_streams.talk();
  if (!m_number && talk.job()) {
    m_number = talk.job();
    m_job.accepted(*m_number);
    if (m_end != End::none) remove_job(); // its number came after we had given up
  }
  if (m_end != End::none || m_is_granted || !talk.is_started()) return;
  m_is_granted = true;
  if (m_is_pending_told) info("job " + job_text() + " has been allocated resources");
  if (m_voice.announces) info("Granted job allocation " + job_text());
  if (m_wanted.bell && m_is_pending_told) m_ctx.say("\a");
}

void Session::look_at_clock() {
  const auto now = Steady::now();
  if (m_streams.is_stdout_gone() && m_endings == 0) {
    m_end_signal = SIGPIPE;
    on_signal(SIGTERM);
  }
  if (!m_is_granted && m_end == End::none && !m_status) {
    if (m_wanted.immediate_s && *m_wanted.immediate_s > 1 &&
        now > m_begin + std::chrono::seconds(*m_wanted.immediate_s))
      return give_up(End::too_late);
    if (!m_is_pending_told && m_number && !m_wanted.immediate_s && now > m_begin + k_told_after) {
      m_is_pending_told = true;
      if (m_voice.announces) info("Pending job allocation " + job_text());
      info("job " + job_text() + " queued and waiting for resources");
    }
  }
  if (m_next_mail && now >= *m_next_mail) post_mail();
  if (m_kill_at && now >= *m_kill_at) kill_qrsh();
}

void Session::on_signal(int number) {
  if (number == SIGCHLD || number == SIGPIPE) return; // seen where they come from
  if (number == SIGWINCH) return m_streams.resize();
  if (m_status) return; // it ends anyway
  if (!m_is_granted) {
    if (!is_ending(number)) return;
    if (m_end_signal == 0) m_end_signal = number;
    return give_up(End::interrupted);
  }
  forward(number);
}

// To the command, by the job's supervisor: a signal to qrsh would kill the command at once.
void Session::forward(int number) {
  const auto now = Steady::now();
  if (is_ending(number)) {
    ++m_endings;
    const bool is_double = number == SIGINT && m_last_interrupt &&
                           now - *m_last_interrupt < k_double_interrupt && m_voice.reads_request;
    if (number == SIGINT) m_last_interrupt = now;
    if (is_double) number = SIGKILL;
    if (m_end_signal == 0 && number != SIGINT) m_end_signal = number;
    // It has been asked before, and not by the user's keyboard alone.
    if (m_endings > 2) return remove_job();
  }
  if (m_mail.empty()) m_mail_deadline = now + k_mail_patience;
  m_mail.push_back(number);
  post_mail();
}

void Session::post_mail() {
  m_next_mail.reset();
  while (!m_mail.empty() && m_number) {
    const int number = m_mail.front();
    const auto* target = number == SIGKILL ? "steps" : "batch";
    const auto posted = records::post_request(
        m_state, {*m_number, std::nullopt}, "signal", {std::to_string(number), target});
    if (!posted) {
      // No supervisor yet, or none any more.
      if (Steady::now() < *m_mail_deadline) {
        m_next_mail = Steady::now() + k_mail_period;
        return;
      }
      if (is_ending(number) || number == SIGKILL) remove_job();
    }
    m_mail.pop_front();
  }
}

void Session::give_up(End why) {
  if (m_end != End::none) return kill_qrsh();
  m_end = why;
  m_kill_at = Steady::now() + k_qrsh_patience;
  // Before the engine has said a number, qrsh knows best how to take its request back.
  if (m_number)
    remove_job();
  else
    ::kill(m_qrsh, SIGINT);
}

void Session::remove_job() {
  if (m_is_removed || !m_number) return;
  m_is_removed = true;
  m_kill_at = Steady::now() + k_qrsh_patience;
  const ge::Tools tools(m_ctx.runner, m_ctx.env, m_ctx.config.qstat_timeout);
  const auto output = tools.run({.tool = "qdel", .args = {job_text()}});
  if (!output || output->status != 0)
    m_ctx.error("job " + job_text() + " could not be removed: " +
                (output ? std::string(trim(output->out + output->err)) : output.error().message));
  if (!m_is_granted) m_job.withdraw();
}

void Session::kill_qrsh() {
  m_kill_at.reset();
  if (!m_status) ::kill(m_qrsh, SIGKILL);
}

void Session::reap() {
  int status = 0;
  if (m_status || ::waitpid(m_qrsh, &status, WNOHANG) != m_qrsh) return;
  m_status = WIFSIGNALED(status) ? slurm::signal_exit(WTERMSIG(status)) : WEXITSTATUS(status);
}

Result<int> Session::conclude() {
  if (!m_is_granted) return conclude_pending();
  const int code = conclude_command();
  if (m_voice.announces) info("Relinquishing job allocation " + job_text());
  return code;
}

Result<int> Session::conclude_pending() {
  const auto revoked = "Job allocation " + job_text() + " has been revoked";
  const auto& complaints = m_streams.talk().complaints();
  if (m_end == End::interrupted) {
    if (m_number) info(revoked + (m_voice.announces ? "." : ""));
    if (m_voice.announces)
      info("Job aborted due to signal");
    else if (m_number)
      info("Force Terminated job " + job_text());
    return slurm::k_exit_failure;
  }
  const bool at_once = m_wanted.immediate_s && *m_wanted.immediate_s <= 1;
  if (m_end == End::too_late || (m_number && at_once)) {
    if (m_number && m_voice.announces) info(revoked + ".");
    m_job.withdraw();
    return m_ctx.refuse("Unable to allocate resources: Requested nodes are busy");
  }
  if (m_number) { // accepted, and then removed by somebody
    info(revoked + (m_voice.announces ? "." : ""));
    m_job.withdraw();
    return slurm::k_exit_failure;
  }
  return m_job.refused(complaints);
}

int Session::conclude_command() {
  if (m_end_signal == SIGPIPE) return slurm::signal_exit(SIGPIPE);
  // The supervisor's record has the true code: the engine gives 99 and 100 a meaning of their own.
  if (const auto code = recorded_code()) return *code;
  // No end was recorded: the job was ended, not its command.
  const bool is_killed = *m_status == 0 || *m_status > slurm::signal_exit(0) || m_is_removed;
  if (is_killed && m_ctx.config.job_records != "off")
    info("Job allocation " + job_text() + " has been revoked" + (m_voice.announces ? "." : ""));
  if (*m_status == 0 || m_is_removed)
    return slurm::signal_exit(m_end_signal != 0 ? m_end_signal : SIGTERM);
  return *m_status;
}

std::optional<int> Session::recorded_code() const {
  if (m_ctx.config.job_records == "off") return *m_status;
  const auto deadline = Steady::now() + k_record_patience;
  for (;;) {
    const auto record = records::read_job_record(m_state, {*m_number, std::nullopt}, std::nullopt);
    if (record && record->end) return record->end->code;
    // The file system may show it late; a code that speaks for itself need not wait.
    if (Steady::now() > deadline || *m_status > 1) return std::nullopt;
    m_ctx.clock.sleep_for(k_record_period);
  }
}

void Session::info(const std::string& text) const {
  if (!m_wanted.job.quiet) m_ctx.say(m_ctx.command + ": " + text + "\n");
}

std::string Session::job_text() const {
  return std::to_string(m_number.value_or(0));
}

} // namespace shim::allocation
