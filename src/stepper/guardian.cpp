#include "guardian.h"

#include "canary.h"

#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/process_tree.h"
#include "slurm_shim/posix/signals.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace shim::stepper {

Guardian::Guardian(posix::Fd control,
                   const proto::StepSpec& spec,
                   std::string host,
                   std::vector<RankOutput> outputs,
                   posix::OpenFileLimit open_files)
    : m_control(std::move(control)), m_spec(spec), m_host(std::move(host)),
      m_outputs(std::move(outputs)), m_open_files(open_files), m_ranks(spec.ranks.size()) {}

void Guardian::run() {
  leave_group();
  enter_directory();
  m_starter.emplace(m_spec, m_host, posix::current_directory().value_or("."), m_open_files);
  for (;;) {
    wait_and_handle();
    if (!all_started()) start_next_rank();
    if (m_grace_end && all_started() && m_alive == 0) finish(true);
    if (m_grace_end && Clock::now() >= *m_grace_end) finish(true);
  }
}

void Guardian::leave_group() {
  posix::ignore_signals({SIGTERM});
  auto signals = posix::block_into_signalfd({SIGCHLD});
  auto canary = start_canary();
  if (!signals || !canary) finish(false); // the front sees the end without `clean`
  m_signals = std::move(*signals);
  m_canary = *canary;
  ::setsid();
  if (!posix::become_subreaper()) finish(false);
  // The front's own descriptors would hold the engine's task open.
  const auto null = posix::open_file("/dev/null", O_RDWR);
  if (!null) finish(false);
  for (int fd = 0; fd < 3; ++fd)
    ::dup2(null->get(), fd);
}

// The directory of all ranks. A directory that was asked for must be there; one that is only srun's
// own may be missing on this host (decision 13).
void Guardian::enter_directory() {
  if (m_spec.chdir.empty() || ::chdir(m_spec.chdir.c_str()) == 0) return;
  const char* reason = ::strerrordesc_np(errno);
  auto text = fmt::format(
      "couldn't chdir to `{}': {}", m_spec.chdir, reason != nullptr ? reason : "unknown error");
  if (m_spec.chdir_explicit) {
    m_directory_failure = proto::RankFail{1, std::move(text)};
    return;
  }
  const char* temporary = std::getenv("TMPDIR"); // NOLINT(concurrency-mt-unsafe): one thread
  std::string instead = temporary != nullptr ? temporary : "/";
  if (::chdir(instead.c_str()) != 0) {
    instead = "/";
    if (::chdir("/") != 0) return;
  }
  const auto line =
      fmt::format("slurmstepd-{}: error: {}: going to {} instead\n", m_host, text, instead);
  if (!m_outputs.empty()) static_cast<void>(posix::write_all(m_outputs[0].rank_fd(1), line));
}

void Guardian::start_next_rank() {
  const auto index = m_next++;
  if (m_directory_failure) return fail_rank(index, *m_directory_failure);
  auto& output = m_outputs[index];
  const auto pid = m_starter->start(m_spec.ranks[index], {output.rank_fd(0), output.rank_fd(1)});
  if (!pid) return fail_rank(index, pid.error());
  for (auto& end : output.write_end)
    end.reset();
  m_ranks[index] = {*pid, true};
  ++m_alive;
  for (const int number : m_latched)
    signal_rank(m_ranks[index], number);
}

void Guardian::fail_rank(std::size_t index, const proto::RankFail& failure) {
  for (auto& end : m_outputs[index].write_end)
    end.reset();
  tell(Event::Kind::failed, index, failure.code, failure.reason);
}

int Guardian::poll_timeout() const {
  if (!all_started()) return 0;
  if (!m_grace_end) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*m_grace_end - Clock::now());
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

void Guardian::wait_and_handle() {
  pollfd ready[2] = {{m_control.get(), POLLIN, 0}, {m_signals.get(), POLLIN, 0}};
  if (::poll(ready, 2, poll_timeout()) <= 0) return;
  // The order of events tells the front nothing, but a dead front ends everything: look there
  // first.
  if (ready[0].revents != 0) handle_commands();
  if (ready[1].revents != 0) reap();
}

void Guardian::handle_commands() {
  for (;;) {
    Command command;
    switch (receive_command(m_control.get(), command)) {
    case Received::nothing: return;
    case Received::closed: m_front_gone = true; finish(false);
    case Received::message: break;
    }
    switch (command.kind) {
    case Command::Kind::signal: signal_all(command.number); break;
    case Command::Kind::finish: finish(true);
    case Command::Kind::terminate:
      if (m_grace_end) break;
      m_grace_end = Clock::now() + std::chrono::milliseconds(command.number);
      signal_all(SIGTERM);
      break;
    }
  }
}

// Only while its leader is unreaped is the group's number certainly the rank's own; what the leader
// leaves behind is ours by descent and ends in the sweep.
void Guardian::signal_rank(const Rank& rank, int number) const {
  if (rank.alive) ::kill(-rank.pid, number);
}

void Guardian::signal_all(int number) {
  if (!all_started()) m_latched.push_back(number);
  for (const auto& rank : m_ranks)
    signal_rank(rank, number);
  // These are for everything of the step, also what has left its group.
  if (number == SIGKILL || number == SIGSTOP || number == SIGCONT)
    posix::signal_descendants(number, m_canary);
}

void Guardian::reap() {
  while (posix::take_signal(m_signals.get()) != 0) {
  }
  for (;;) {
    int status = 0;
    const auto pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED);
    if (pid <= 0) return;
    if (pid == m_canary && WIFSTOPPED(status)) posix::signal_descendants(SIGSTOP, m_canary);
    if (pid == m_canary && WIFCONTINUED(status)) posix::signal_descendants(SIGCONT, m_canary);
    if (WIFEXITED(status) || WIFSIGNALED(status)) on_ended(pid, status);
  }
}

void Guardian::on_ended(pid_t pid, int status) {
  const auto rank = std::find_if(m_ranks.begin(), m_ranks.end(), [pid](const Rank& candidate) {
    return candidate.alive && candidate.pid == pid;
  });
  if (rank == m_ranks.end()) return;
  rank->alive = false;
  --m_alive;
  tell(Event::Kind::exited, static_cast<std::size_t>(rank - m_ranks.begin()), status);
}

void Guardian::tell(Event::Kind kind, std::size_t index, int value, std::string text) {
  if (m_front_gone) return;
  const Event event{kind, static_cast<std::uint32_t>(index), value, std::move(text)};
  if (send_event(m_control.get(), event) == Sent::done) return;
  m_front_gone = true;
  finish(false);
}

void Guardian::finish(bool tell_front) {
  // The canary first: a lone rank's step then ends without a look at /proc.
  if (m_canary > 0 && ::kill(m_canary, SIGKILL) == 0) ::waitpid(m_canary, nullptr, 0);
  m_canary = -1;
  posix::sweep_descendants([this](pid_t pid, int status) { on_ended(pid, status); });
  if (tell_front) tell(Event::Kind::clean, 0, 0);
  ::_exit(0);
}

} // namespace shim::stepper
