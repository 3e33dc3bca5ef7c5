#include "fleet.h"

#include <cerrno>
#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

namespace shim::commands::srun {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {
constexpr auto k_watch = 2s;

std::string describe_status(int status) {
  if (WIFSIGNALED(status)) return "was killed by signal " + std::to_string(WTERMSIG(status));
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}
} // namespace

Fleet::Fleet(asio::io_context& loop,
             const proto::Token& token,
             Setup setup,
             std::vector<Member> members,
             Events events)
    : m_loop(loop), m_token(token), m_setup(std::move(setup)), m_events(std::move(events)) {
  for (auto& member : members)
    m_slots.push_back(std::make_unique<Slot>(m_loop, std::move(member)));
}

void Fleet::start() {
  fill_ramp();
}

bool Fleet::occupies_ramp(const Slot& slot) {
  return slot.member.remote && slot.state == State::watched;
}

void Fleet::fill_ramp() {
  while (!m_stopped && m_next < m_slots.size()) {
    if (m_slots[m_next]->member.remote && m_in_ramp >= static_cast<std::size_t>(m_setup.ramp))
      return;
    start_one(m_next++);
  }
}

void Fleet::start_one(std::size_t index) {
  auto& slot = *m_slots[index];
  const auto& member = slot.member;
  m_last_start = Clock::now();
  if (!slot.policy) slot.policy.emplace(m_last_start);
  slot.tail.clear();
  auto started =
      member.remote
          ? launch::start_remote_stepper(m_setup.qrsh,
                                         {member.engine_name, m_setup.self, member.envelope},
                                         m_setup.env,
                                         m_token)
          : launch::start_local_stepper(m_setup.self, member.envelope, m_setup.env, m_token);
  if (!started)
    return m_events.on_fatal("launching stepper on " + member.host + ": " +
                             started.error().message);
  slot.pid = started->pid;
  slot.state = State::watched;
  ++m_running;
  if (occupies_ramp(slot)) ++m_in_ramp;
  if (started->stderr_pipe) {
    slot.pipe.assign(started->stderr_pipe.release());
    read_client(index);
  }
  watch(index);
}

void Fleet::watch(std::size_t index) {
  auto& slot = *m_slots[index];
  slot.timer.expires_after(k_watch);
  slot.timer.async_wait([this, index](const boost::system::error_code& error) {
    auto& watched = *m_slots[index];
    if (error || watched.state != State::watched) return;
    if (occupies_ramp(watched)) --m_in_ramp;
    watched.state = State::settled;
    fill_ramp();
  });
}

void Fleet::connected(std::size_t index) {
  auto& slot = *m_slots[index];
  if (occupies_ramp(slot)) --m_in_ramp;
  slot.state = State::connected;
  slot.timer.cancel();
  if (!slot.tail.text().empty()) m_events.on_client_text(slot.tail.text());
  fill_ramp();
}

void Fleet::read_client(std::size_t index) {
  m_slots[index]->pipe.async_wait(asio::posix::descriptor_base::wait_read,
                                  [this, index](const boost::system::error_code& error) {
                                    auto& slot = *m_slots[index];
                                    if (error || !slot.pipe.is_open()) return;
                                    drain_client(slot);
                                    if (slot.pipe.is_open()) read_client(index);
                                  });
}

// What a client says is shown once its stepper runs; before, it is only kept: a refusal that is
// tried again is not worth a line each time.
void Fleet::drain_client(Slot& slot) const {
  char buffer[4096];
  for (;;) {
    const auto got = ::read(slot.pipe.native_handle(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      boost::system::error_code ignored;
      slot.pipe.close(ignored);
      return;
    }
    const std::string_view text(buffer, static_cast<std::size_t>(got));
    slot.tail.append(text);
    if (slot.state == State::connected || slot.state == State::ended) m_events.on_client_text(text);
  }
}

void Fleet::reap() {
  for (std::size_t i = 0; i < m_slots.size(); ++i) {
    if (m_slots[i]->pid <= 0) continue;
    int status = 0;
    if (::waitpid(m_slots[i]->pid, &status, WNOHANG) != m_slots[i]->pid) continue;
    on_exit(i, status);
  }
}

void Fleet::on_exit(std::size_t index, int status) {
  auto& slot = *m_slots[index];
  slot.pid = -1;
  --m_running;
  if (slot.pipe.is_open()) drain_client(slot);
  if (slot.state == State::connected) {
    slot.state = State::ended;
    return m_events.on_ended(index);
  }
  if (occupies_ramp(slot)) --m_in_ramp;
  slot.state = State::ended;
  slot.timer.cancel();
  if (m_stopped) return;
  if (slot.member.remote) return on_refused(index);
  m_events.on_fatal("stepper on " + slot.member.host + " " + describe_status(status) +
                    " before it connected");
}

void Fleet::on_refused(std::size_t index) {
  auto& slot = *m_slots[index];
  boost::system::error_code ignored;
  slot.pipe.close(ignored);
  slot.rejection = launch::classify_rejection(slot.tail.text());
  if (slot.rejection == launch::Rejection::job_race && m_events.is_host_busy(slot.member.host))
    slot.rejection = launch::Rejection::slots;
  const auto decision = slot.policy->after(slot.rejection, Clock::now());
  if (decision.give_up) {
    const launch::QrshTarget target{slot.member.engine_name, m_setup.self, slot.member.envelope};
    return m_events.on_fatal(launch::give_up_message(
        slot.rejection, slot.member.host, launch::build_qrsh_args(target), slot.tail.text()));
  }
  if (slot.rejection == launch::Rejection::slots) m_events.on_slots_wait();
  slot.state = State::refused;
  slot.timer.expires_after(decision.delay);
  slot.timer.async_wait([this, index](const boost::system::error_code& error) {
    if (!error && !m_stopped && m_slots[index]->state == State::refused) start_one(index);
  });
  fill_ramp();
}

void Fleet::signal_local(int number) {
  for (const auto& slot : m_slots)
    if (slot->pid > 0 && !slot->member.remote) ::kill(slot->pid, number);
}

bool Fleet::waits_for_slots() const {
  for (const auto& slot : m_slots)
    if (slot->state == State::refused && slot->rejection == launch::Rejection::slots) return true;
  return false;
}

} // namespace shim::commands::srun
