#include "supervisor.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/process_tree.h"
#include "slurm_shim/posix/signals.h"
#include "slurm_shim/records/steps.h"

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
constexpr std::int64_t k_longest_s = std::int64_t{10} * 365 * 86400; // keeps sums inside the clock

// A qrsh client that its srun left behind (decision 7a) ends when its remote task is gone. Leaving
// with 99 before that loses the job (decision E2).
bool a_qrsh_is_alive() {
  const auto processes = posix::descendants_of(::getpid());
  return std::any_of(processes.begin(), processes.end(), [](pid_t pid) {
    const auto name = posix::read_file("/proc/" + std::to_string(pid) + "/comm", 64);
    return name && trim(*name) == "qrsh";
  });
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
  if (m_job.signal && m_job.limit_s)
    m_signal_at =
        Steady::now() + seconds(std::max<std::int64_t>(0, *m_job.limit_s - m_job.signal->lead_s));
  while (m_phase != Phase::done) {
    wait_for_event();
    reap();
    const auto now = Steady::now();
    if (m_signal_at && now >= *m_signal_at) fire_signal_timer();
    if (now >= m_next_mail) look_into_mailbox();
    advance();
  }
  look_into_mailbox(); // nobody waits for an answer that will not come
  return m_outcome;
}

Supervisor::Steady::time_point Supervisor::next_wake() const {
  auto wake = m_next_mail;
  if (m_signal_at) wake = std::min(wake, *m_signal_at);
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
  while (posix::take_signal(m_signal_fd) != 0) {
  }
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
  if (m_phase != Phase::running) return {1, "the job is ending"};
  if (request.verb == "signal") return signal_request(request);
  if (request.verb == "end-step") return end_step_request(request);
  if (request.verb == "requeue" || request.verb == "requeue-hold") return requeue_request();
  if (request.verb == "suspend" || request.verb == "resume") {
    signal_steps(request.verb == "suspend" ? SIGSTOP : SIGCONT);
    return {};
  }
  return {1, "unknown request \"" + request.verb + "\""};
}

Supervisor::Answer Supervisor::signal_request(const records::MailRequest& request) {
  const auto number = request.args.empty() ? std::nullopt : signal_number(request.args[0]);
  if (!number || request.args.size() != 2) return {1, "expected: signal <1..64> <target>"};
  const std::string_view target = request.args[1];
  const bool to_script = target == "batch" || target == "full";
  if (target == "steps" || target == "full") signal_steps(*number);
  if (to_script) ::kill(m_script, *number);
  if (to_script || target == "steps") return {};
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
  m_phase = Phase::requeue_steps;
  m_deadline = Steady::now() + kill_wait(m_job) + k_steps_extra + k_qrsh_patience;
  m_signal_at.reset();
  ::kill(m_script, SIGSTOP); // it must not start another step now
  return {};
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
    ::kill(m_script, m_job.signal->num);
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
  case Phase::closing: return advance_closing();
  }
}

void Supervisor::advance_requeue() {
  const bool is_late = Steady::now() >= m_deadline;
  if (m_phase == Phase::requeue_script) {
    if (is_late) ::kill(m_script, SIGKILL);
    return;
  }
  if (!is_late && (!steps_have_ended() || a_qrsh_is_alive())) return;
  m_phase = Phase::requeue_script;
  m_deadline = Steady::now() + kill_wait(m_job);
  ::kill(m_script, SIGTERM);
  ::kill(m_script, SIGCONT);
}

void Supervisor::advance_closing() {
  const bool is_clean = steps_have_ended() && !(m_outcome.requeue && a_qrsh_is_alive());
  if (!is_clean && Steady::now() < m_deadline) return;
  if (!is_clean && m_outcome.requeue)
    m_outcome.warning = "requeue: a remote step did not end in time, the job is likely lost";
  m_phase = Phase::done;
}

} // namespace shim::batchexec
