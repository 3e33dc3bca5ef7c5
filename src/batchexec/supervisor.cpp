#include "supervisor.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/process_tree.h"
#include "slurm_shim/posix/signals.h"
#include "slurm_shim/records/steps.h"
#include "slurm_shim/slurm/date_time.h"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace shim::batchexec {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds k_mail_period{1000};
constexpr milliseconds k_end_period{100};   // how often ending steps are looked at
constexpr milliseconds k_steps_extra{5000}; // beyond kill_wait, for the steps' own ways out
constexpr seconds k_qrsh_patience{60};
constexpr milliseconds k_least_grace{3000}; // between TERM and the engine's KILL at the limit
constexpr std::int64_t k_longest_s = std::int64_t{10} * 365 * 86400; // keeps sums inside the clock

// The first 15 bytes of the program's name; "" when the process is gone.
std::string command_name(pid_t pid) {
  const auto name = posix::read_file("/proc/" + std::to_string(pid) + "/comm", 64);
  return name ? std::string(trim(*name)) : "";
}

// A qrsh client that its srun left behind (decision 7a) ends when its remote task is gone. Leaving
// with 99 before that loses the job (decision E2).
bool a_qrsh_is_alive() {
  const auto processes = posix::descendants_of(::getpid());
  return std::ranges::any_of(processes, [](pid_t pid) { return command_name(pid) == "qrsh"; });
}

// What serves a step and everything below it: srun, the front, the guardian with its ranks; they
// are told through the step. A qrsh is never signalled (decision 7a).
bool serves_a_step(pid_t pid) {
  const auto name = command_name(pid);
  return name == "srun" || name == "slurm-shim" || name == "qrsh";
}

milliseconds kill_wait(const records::BatchJob& job) {
  return milliseconds(std::min(job.kill_wait_ms, k_longest_s * 1000));
}

std::optional<int> signal_number(std::string_view text) {
  const auto number = parse_int<int>(text);
  if (!number || *number < 1 || *number > 64) return std::nullopt;
  return number;
}

} // namespace

Supervisor::Supervisor(const records::BatchJob& job,
                       const records::JobFolder& folder,
                       const records::JobRecordWriter& record,
                       records::MailboxReader& mailbox,
                       int signal_fd)
    : m_job(job), m_folder(folder), m_record(record), m_mailbox(mailbox), m_signal_fd(signal_fd) {}

Outcome Supervisor::run(pid_t script) {
  m_script = script;
  m_next_mail = Steady::now() + k_mail_period;
  set_timers();
  while (m_phase != Phase::done) {
    wait_for_event();
    reap();
    const auto now = Steady::now();
    fire_timers(now);
    if (now >= m_next_mail) look_into_mailbox();
    advance();
  }
  look_into_mailbox(); // nobody waits for an answer that will not come
  return m_outcome;
}

Supervisor::Steady::time_point Supervisor::next_wake() const {
  auto wake = m_next_mail;
  if (m_signal_at) wake = std::min(wake, *m_signal_at);
  if (m_term_at) wake = std::min(wake, *m_term_at);
  if (m_phase != Phase::running) wake = std::min(wake, Steady::now() + k_end_period);
  return wake;
}

void Supervisor::wait_for_event() {
  // In closing there may be nothing to wait for at all.
  if (m_phase == Phase::closing && steps_have_ended() && !m_outcome.requeue) return;
  const auto left =
      std::chrono::duration_cast<milliseconds>(next_wake() - Steady::now()) + milliseconds(1);
  pollfd waiter{m_signal_fd, POLLIN, 0};
  ::poll(&waiter, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
  // The script gets the engine's signals itself; here they only must not kill.
  for (int number = posix::take_signal(m_signal_fd); number != 0;
       number = posix::take_signal(m_signal_fd))
    warned(number);
}

void Supervisor::reap() {
  int status = 0;
  for (pid_t pid = ::waitpid(-1, &status, WNOHANG); pid > 0; pid = ::waitpid(-1, &status, WNOHANG))
    if (pid == m_script) script_ended(status);
}

void Supervisor::script_ended(int wait_status) {
  m_script = -1;
  m_outcome.script = script_end(wait_status);
  m_signal_at.reset();
  m_term_at.reset();
  // `scontrol requeue` may have been its last command.
  if (m_phase == Phase::running) look_into_mailbox();
  m_phase = Phase::closing;
  m_deadline = Steady::now() + kill_wait(m_job) + k_steps_extra;
  if (m_outcome.requeue) m_deadline += k_qrsh_patience;
}

void Supervisor::look_into_mailbox() {
  m_next_mail = Steady::now() + k_mail_period;
  for (const auto& received : m_mailbox.poll()) {
    Answer answer{1, received.problem};
    if (received.request) answer = carry_out(*received.request);
    records::RequestEvent event;
    event.t_ms = m_clock.unix_ms();
    event.id = received.id;
    event.verb = received.request ? received.request->verb : "";
    event.rc = answer.rc;
    event.text = answer.text;
    // A record that cannot be written is never the job's failure.
    [[maybe_unused]] const auto written = m_record.request(event);
  }
}

Supervisor::Answer Supervisor::carry_out(const records::MailRequest& request) {
  if (request.verb == "cancel" && m_phase == Phase::cancel) return {};
  if (m_phase != Phase::running) return {1, "the job is ending"};
  if (request.verb == "signal") return signal_request(request);
  if (request.verb == "end-step") return end_step_request(request);
  if (request.verb == "cancel") return cancel_request();
  if (request.verb == "requeue" || request.verb == "requeue-hold") return requeue_request();
  if (request.verb == "suspend" || request.verb == "resume") {
    // Told by a stepper for the other hosts: we were stopped and woken ourselves.
    if (!request.args.empty() && request.args[0] == records::k_from_engine) return {};
    signal_steps(request.verb == "suspend" ? SIGSTOP : SIGCONT);
    return {};
  }
  return {1, "unknown request \"" + request.verb + "\""};
}

Supervisor::Answer Supervisor::signal_request(const records::MailRequest& request) {
  const auto number = request.args.empty() ? std::nullopt : signal_number(request.args[0]);
  if (!number || request.args.size() != 2) return {1, "expected: signal <1..64> <target>"};
  const std::string_view target = request.args[1];
  if (target == "steps" || target == "full") signal_steps(*number);
  if (target == "batch") signal_script(*number);
  if (target == "full") signal_batch(*number);
  if (target == "batch" || target == "full" || target == "steps") return {};
  const auto step = target.starts_with("step:") ? parse_int<int>(target.substr(5)) : std::nullopt;
  if (!step) return {1, "unknown target \"" + std::string(target) + "\""};
  const auto sent =
      records::post_step_request(m_folder, *step, {records::StepRequest::Kind::signal, *number});
  if (!sent) return {1, sent.error().message};
  return {};
}

Supervisor::Answer Supervisor::end_step_request(const records::MailRequest& request) {
  const auto step = request.args.size() == 1 ? parse_int<int>(request.args[0]) : std::nullopt;
  if (!step) return {1, "expected: end-step <step>"};
  const auto sent =
      records::post_step_request(m_folder, *step, {records::StepRequest::Kind::end, 0});
  if (!sent) return {1, sent.error().message};
  return {};
}

Supervisor::Answer Supervisor::requeue_request() {
  if (!m_job.requeue) return {1, "the job was submitted with --no-requeue"};
  m_outcome.requeue = true;
  m_signal_at.reset();
  m_term_at.reset();
  tell("DUE TO JOB REQUEUE");
  if (m_script < 0) return {}; // it has ended: only its steps are left
  m_phase = Phase::requeue_steps;
  m_deadline = Steady::now() + kill_wait(m_job) + k_steps_extra + k_qrsh_patience;
  signal_script(SIGSTOP); // it must not start another step now
  return {};
}

// As Slurm ends a job: everybody gets TERM, who is left after kill_wait gets KILL.
Supervisor::Answer Supervisor::cancel_request() {
  if (m_job.interactive()) return {1, "an interactive job is ended by the engine"};
  if (m_script < 0) return {1, "the job is ending"};
  m_outcome.cancel = true;
  m_signal_at.reset();
  m_term_at.reset();
  tell("");
  [[maybe_unused]] const auto written = m_record.ending({m_clock.unix_ms(), SIGTERM, "cancel"});
  m_phase = Phase::cancel;
  m_deadline = Steady::now() + kill_wait(m_job);
  [[maybe_unused]] const bool none = steps_have_ended();
  signal_batch(SIGTERM);
  signal_batch(SIGCONT);
  return {};
}

// Never -1, which is everybody.
void Supervisor::signal_script(int number) const {
  if (m_script > 0) ::kill(m_script, number);
}

// The script and all that it started, but not its steps.
void Supervisor::signal_batch(int number) {
  for (const auto pid : posix::descendants_of(::getpid(), serves_a_step))
    ::kill(pid, number);
}

// Slurm's line in the job's stderr; programs look for its end.
void Supervisor::tell(std::string_view why) const {
  const auto line = fmt::format("slurmstepd: error: *** JOB {} ON {} CANCELLED AT {}{}{} ***\n",
                                m_job.slurm_id,
                                m_job.host,
                                slurm::format_date_time(m_clock.unix_ms() / 1000),
                                why.empty() ? "" : " ",
                                why);
  // The job ends whether or not its stderr can be written.
  [[maybe_unused]] const int error = posix::write_all(STDERR_FILENO, line);
}

// The limit counts from the engine's start of the job; the hook was there first.
void Supervisor::set_timers() {
  if (!m_job.limit_s) return;
  const auto start_ms = m_job.start_s * 1000;
  const auto passed = milliseconds(
      std::clamp<std::int64_t>(m_clock.unix_ms() - start_ms, 0, m_job.start_s > 0 ? 600000 : 0));
  const auto begin = Steady::now() - passed;
  const auto limit = milliseconds(std::min(*m_job.limit_s, k_longest_s) * 1000);
  if (m_job.signal)
    m_signal_at = begin + std::max(milliseconds(0), limit - seconds(m_job.signal->lead_s));
  m_term_at = begin + limit - std::min(kill_wait(m_job), std::max(k_least_grace, limit / 20));
}

void Supervisor::fire_timers(Steady::time_point now) {
  if (m_signal_at && now >= *m_signal_at) fire_signal_timer();
  if (m_term_at && now >= *m_term_at) end_in_time();
}

// The engine KILLs at the limit without a warning. As in Slurm everybody gets TERM first, so that
// the last seconds can be used.
void Supervisor::end_in_time() {
  m_term_at.reset();
  m_outcome.timeout = true;
  tell("DUE TO TIME LIMIT");
  [[maybe_unused]] const auto written = m_record.ending({m_clock.unix_ms(), SIGTERM, "timeout"});
  signal_steps(SIGTERM);
  signal_batch(SIGTERM);
  signal_batch(SIGCONT);
}

// With -notify the engine sends USR2 some seconds before a KILL: the last chance for a record.
void Supervisor::warned(int number) {
  if (number != SIGUSR2 || m_warned) return;
  m_warned = true;
  [[maybe_unused]] const auto written = m_record.ending({m_clock.unix_ms(), SIGUSR2, "notify"});
}

void Supervisor::signal_steps(int number) {
  for (const auto& step : records::list_running_steps(m_folder)) {
    // One that ended in this moment needs no signal.
    [[maybe_unused]] const auto sent = records::post_step_request(
        m_folder, step.step, {records::StepRequest::Kind::signal, number});
  }
}

void Supervisor::fire_signal_timer() {
  m_signal_at.reset();
  if (m_job.signal->batch)
    signal_script(m_job.signal->num);
  else
    signal_steps(m_job.signal->num);
}

bool Supervisor::steps_have_ended() {
  const auto steps = records::list_running_steps(m_folder);
  for (const auto& step : steps) {
    if (!m_told.insert(step.step).second) continue;
    [[maybe_unused]] const auto sent =
        records::post_step_request(m_folder, step.step, {records::StepRequest::Kind::end, 0});
  }
  return steps.empty();
}

void Supervisor::advance() {
  switch (m_phase) {
  case Phase::running:
  case Phase::done: return;
  case Phase::requeue_steps:
  case Phase::requeue_script: return advance_requeue();
  case Phase::cancel: return advance_cancel();
  case Phase::closing: return advance_closing();
  }
}

void Supervisor::advance_requeue() {
  const bool is_late = Steady::now() >= m_deadline;
  if (m_phase == Phase::requeue_script) {
    if (is_late) signal_batch(SIGKILL);
    return;
  }
  if (!is_late && (!steps_have_ended() || a_qrsh_is_alive())) return;
  m_phase = Phase::requeue_script;
  m_deadline = Steady::now() + kill_wait(m_job);
  signal_batch(SIGTERM);
  signal_batch(SIGCONT);
}

void Supervisor::advance_cancel() {
  [[maybe_unused]] const bool none = steps_have_ended(); // also those that begin only now
  if (Steady::now() >= m_deadline) signal_batch(SIGKILL);
}

void Supervisor::advance_closing() {
  const bool is_clean = steps_have_ended() && !(m_outcome.requeue && a_qrsh_is_alive());
  if (!is_clean && Steady::now() < m_deadline) return;
  if (!is_clean && m_outcome.requeue)
    m_outcome.warning = "requeue: a remote step did not end in time, the job is likely lost";
  m_phase = Phase::done;
}

} // namespace shim::batchexec
