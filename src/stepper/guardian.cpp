#include "guardian.h"

#include "canary.h"
#include "suspension.h"

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

namespace {

using namespace std::chrono_literals;

// A relay's srun that was asked to kill its step (PIPE) gives it up after 5 s and waits 5 s more
// for its steppers; what it leaves behind when it is killed itself has 5 s from the lost channel
// on.
constexpr auto k_relay_kill = 20s;
constexpr auto k_relay_leave = 15s;

// How an srun is told what happens to other ranks by force.
int word_to_relay(int number) {
  switch (number) {
  case SIGKILL: return SIGPIPE; // ends its step as a second Ctrl-C would
  case SIGSTOP: return SIGTSTP; // stops its ranks on all hosts, then itself
  default: return number;
  }
}

// The client of a stepper that an srun of a rank has started. Its stepper ends with that srun, and
// it with the stepper; killed, it would take the whole job along (decision 7a).
bool is_client_of_stepper(pid_t pid) {
  using namespace std::string_view_literals;
  const auto words = posix::read_file("/proc/" + std::to_string(pid) + "/cmdline");
  return words && words->find("\0-inherit\0"sv) != std::string::npos &&
         words->find("\0stepper\0--envelope\0"sv) != std::string::npos;
}

} // namespace

Guardian::Guardian(posix::Fd control,
                   const proto::StepSpec& spec,
                   std::string host,
                   std::vector<RankStreams> streams,
                   posix::OpenFileLimit open_files)
    : m_control(std::move(control)), m_spec(spec), m_host(std::move(host)),
      m_streams(std::move(streams)), m_open_files(open_files), m_ranks(spec.ranks.size()) {}

void Guardian::run() {
  leave_group();
  enter_directory();
  m_starter.emplace(m_spec, m_host, posix::current_directory().value_or("."), m_open_files);
  for (;;) {
    wait_and_handle();
    end_slow_epilogs();
    if (!all_started()) start_next_rank();
    if (m_grace_end && all_started() && m_alive == 0) finish(true);
    if (m_grace_end && Clock::now() >= *m_grace_end) on_grace_end();
  }
}

void Guardian::leave_group() {
  posix::ignore_signals({SIGTERM});
  auto signals = posix::block_into_signalfd({SIGCHLD});
  if (!signals || !start_watch()) finish(false); // the front sees the end without `clean`
  m_signals = std::move(*signals);
  ::setsid();
  if (!posix::become_subreaper()) finish(false);
  // The front's own descriptors would hold the engine's task open.
  const auto null = posix::open_file("/dev/null", O_RDWR);
  if (!null) finish(false);
  for (int fd = 0; fd < 3; ++fd)
    ::dup2(null->get(), fd);
}

// Who tells us that the engine has stopped the job: on the host of the batch script a canary in the
// engine's process group, elsewhere a listener, since the engine stops nothing there.
bool Guardian::start_watch() {
  if (!m_spec.mailbox.empty() && m_host != m_spec.master_host) {
    if (auto listener = start_listener(m_spec.mailbox)) {
      m_canary = listener->pid;
      m_words = std::move(listener->words);
      return true;
    }
  }
  const auto canary = start_canary();
  if (canary) m_canary = *canary;
  return canary.has_value();
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
  if (!m_streams.empty()) static_cast<void>(posix::write_all(m_streams[0].rank_fd(2), line));
}

void Guardian::start_next_rank() {
  const auto index = m_next++;
  if (m_directory_failure) return fail_rank(index, *m_directory_failure);
  auto& streams = m_streams[index];
  const auto pid = m_starter->start(
      m_spec.ranks[index],
      {streams.rank_fd(0), streams.rank_fd(1), streams.rank_fd(2), streams.is_terminal});
  if (!pid) return fail_rank(index, pid.error());
  // What an epilog prints follows the task's own output.
  streams.rank_end[0].reset();
  if (m_spec.task_epilog.empty())
    for (auto& end : streams.rank_end)
      end.reset();
  m_ranks[index] = {*pid, true};
  ++m_alive;
  for (const int number : m_latched)
    signal_rank(m_ranks[index], number);
}

void Guardian::fail_rank(std::size_t index, const proto::RankFail& failure) {
  for (auto& end : m_streams[index].rank_end)
    end.reset();
  tell(Event::Kind::failed, index, failure.code, failure.reason);
}

int Guardian::poll_timeout() const {
  if (!all_started()) return 0;
  auto next = m_grace_end;
  for (const auto& rank : m_ranks)
    if (rank.epilog > 0 && (!next || rank.epilog_end < *next)) next = rank.epilog_end;
  if (!next) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now());
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

void Guardian::wait_and_handle() {
  pollfd ready[3] = {
      {m_control.get(), POLLIN, 0}, {m_signals.get(), POLLIN, 0}, {m_words.get(), POLLIN, 0}};
  if (::poll(ready, 3, poll_timeout()) <= 0) return;
  // The order of events tells the front nothing, but a dead front ends everything: look there
  // first.
  if (ready[0].revents != 0) handle_commands();
  if (ready[1].revents != 0) reap();
  if (ready[2].revents != 0) hear_listener();
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
      if (m_spec.is_relay) signal_all(SIGCONT); // only who runs can end in order
      break;
    }
  }
}

// Only while its leader is unreaped is the group's number certainly the rank's own; what the leader
// leaves behind is ours by descent and ends in the sweep.
// A relay's srun speaks for its own stepper, which is in its group.
void Guardian::signal_rank(const Rank& rank, int number) const {
  if (!rank.alive) return;
  if (m_spec.is_relay)
    ::kill(rank.pid, word_to_relay(number));
  else
    ::kill(-rank.pid, number);
}

void Guardian::signal_all(int number) {
  if (!all_started()) m_latched.push_back(number);
  for (const auto& rank : m_ranks)
    signal_rank(rank, number);
  // These are for everything of the step, also what has left its group.
  if (m_spec.is_relay) return;
  if (number == SIGKILL)
    posix::signal_descendants(number, m_canary, is_client_of_stepper);
  else if (number == SIGSTOP || number == SIGCONT)
    posix::signal_descendants(number, m_canary);
}

void Guardian::reap() {
  while (posix::take_signal(m_signals.get()) != 0) {
  }
  for (;;) {
    int status = 0;
    const auto pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED);
    if (pid <= 0) return;
    if (pid == m_canary) on_canary(status);
    if (WIFEXITED(status) || WIFSIGNALED(status)) on_ended(pid, status);
  }
}

// The engine has stopped or continued its process group, in which the canary is.
void Guardian::on_canary(int status) {
  if (!WIFSTOPPED(status) && !WIFCONTINUED(status)) return;
  posix::signal_descendants(WIFSTOPPED(status) ? SIGSTOP : SIGCONT, m_canary);
  if (!m_spec.mailbox.empty() && m_host == m_spec.master_host)
    tell_mailbox(m_spec.mailbox, WIFSTOPPED(status));
}

void Guardian::hear_listener() {
  char words[64];
  const auto got = ::read(m_words.get(), words, sizeof words);
  if (got > 0)
    posix::signal_descendants(words[got - 1] == k_suspended ? SIGSTOP : SIGCONT, m_canary);
  else if (got == 0 || errno != EAGAIN)
    m_words.reset();
}

void Guardian::on_ended(pid_t pid, int status) {
  const auto rank = std::find_if(m_ranks.begin(), m_ranks.end(), [pid](const Rank& candidate) {
    return (candidate.alive && candidate.pid == pid) || candidate.epilog == pid;
  });
  if (rank == m_ranks.end()) return;
  const auto index = static_cast<std::size_t>(rank - m_ranks.begin());
  if (rank->alive) {
    rank->alive = false;
    rank->status = status;
    if (start_epilog(index)) return;
  }
  end_rank(index);
}

bool Guardian::start_epilog(std::size_t index) {
  constexpr std::chrono::seconds k_longest{5}; // "very short-lived", says the manual
  if (m_spec.task_epilog.empty() || m_finishing) return false;
  auto& rank = m_ranks[index];
  const auto& streams = m_streams[index];
  const auto pid =
      m_starter->start_epilog(m_spec.ranks[index],
                              {posix::k_null_fd, streams.rank_fd(1), streams.rank_fd(2), false},
                              rank.pid);
  if (pid) {
    rank.epilog = *pid;
    rank.epilog_end = Clock::now() + k_longest;
    return true;
  }
  const auto line = fmt::format("slurmstepd-{}: error: {}\n", m_host, pid.error());
  static_cast<void>(posix::write_all(streams.rank_fd(2), line));
  return false;
}

void Guardian::end_rank(std::size_t index) {
  for (auto& end : m_streams[index].rank_end)
    end.reset();
  m_ranks[index].epilog = -1;
  --m_alive;
  tell(Event::Kind::exited, index, m_ranks[index].status);
}

void Guardian::end_slow_epilogs() {
  for (auto& rank : m_ranks) {
    if (rank.epilog <= 0 || Clock::now() < rank.epilog_end) continue;
    ::kill(-rank.epilog, SIGKILL);
    rank.epilog_end = Clock::time_point::max();
  }
}

void Guardian::tell(Event::Kind kind, std::size_t index, int value, std::string text) {
  if (m_front_gone) return;
  const Event event{kind, static_cast<std::uint32_t>(index), value, std::move(text)};
  if (send_event(m_control.get(), event) == Sent::done) return;
  m_front_gone = true;
  finish(false);
}

// After TERM a relay's srun is asked to kill its step, and killed only when it does not answer:
// then its steppers see a lost channel and end by themselves.
void Guardian::on_grace_end() {
  if (!m_spec.is_relay || m_last_word == SIGKILL) finish(true);
  m_last_word = m_last_word == 0 ? SIGPIPE : SIGKILL;
  *m_grace_end += k_relay_kill;
  for (const auto& rank : m_ranks)
    if (rank.alive) ::kill(rank.pid, m_last_word);
}

// The clients of a relay's steppers end with them. Only the engine, which ends the front, ends this
// wait by force.
void Guardian::let_descendants_leave() {
  const auto end = Clock::now() + k_relay_leave;
  while (Clock::now() < end) {
    reap();
    siginfo_t info;
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD) return;
    pollfd ready[2] = {{m_control.get(), POLLIN, 0}, {m_signals.get(), POLLIN, 0}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    ::poll(ready, 2, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready[0].revents == 0) continue;
    Command ignored;
    Received received;
    while ((received = receive_command(m_control.get(), ignored)) == Received::message) {
    }
    if (received == Received::closed) {
      m_front_gone = true;
      return;
    }
  }
}

void Guardian::finish(bool tell_front) {
  // The canary first: a lone rank's step then ends without a look at /proc. A listener may hang in
  // its file system: the sweep, which has an end, reaps it.
  if (m_canary > 0 && ::kill(m_canary, SIGKILL) == 0 && !m_words) ::waitpid(m_canary, nullptr, 0);
  m_canary = -1;
  m_finishing = true;
  if (m_spec.is_relay && tell_front) let_descendants_leave();
  const auto on_reaped = [this](pid_t pid, int status) { on_ended(pid, status); };
  if (m_front_gone) // by the engine, which ends the job
    posix::sweep_descendants(on_reaped);
  else if (!m_spec.is_relay)
    posix::sweep_descendants(on_reaped, is_client_of_stepper);
  if (tell_front) tell(Event::Kind::clean, 0, 0);
  ::_exit(0);
}

} // namespace shim::stepper
