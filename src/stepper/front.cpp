#include "front.h"

#include "slurm_shim/base/assert.h"
#include "slurm_shim/posix/process_tree.h"
#include "slurm_shim/posix/signals.h"
#include "slurm_shim/proto/messages.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>

namespace shim::stepper {

namespace {

using namespace std::chrono_literals;

constexpr auto k_holder_grace = 2s;  // decision 8
constexpr auto k_stray_grace = 5s;   // how long the last report waits for the sweep
constexpr auto k_leave_grace = 1s;   // for srun to take the rest after TERM
constexpr int k_terminate_ms = 5000; // TERM, 5 s, KILL: no rank outlives its supervisor
constexpr std::size_t k_batch = 64;
constexpr std::uint64_t k_others_id = ~std::uint64_t{0};
enum OtherId : std::uint64_t { k_channel_id, k_control_id, k_signal_id, k_first_input_id };

posix::Fd make_epoll() {
  posix::Fd fd(::epoll_create1(EPOLL_CLOEXEC));
  SHIM_ASSERT(fd.valid());
  return fd;
}

// Where input that must wait for its reader may be put.
std::string temporary_folder() {
  const char* folder = std::getenv("TMPDIR"); // NOLINT(concurrency-mt-unsafe): one thread
  return folder != nullptr && *folder == '/' ? folder : "/tmp";
}

void watch(int epoll, int fd, std::uint64_t id) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = id;
  SHIM_ASSERT(::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
}

int exit_code_of(const Event& end) {
  if (end.kind == Event::Kind::failed) return end.value;
  return WIFSIGNALED(end.value) ? slurm::signal_exit(WTERMSIG(end.value)) : WEXITSTATUS(end.value);
}

} // namespace

Front::Front(Parts parts, const proto::StepSpec& spec, std::vector<RankStreams> streams)
    : m_channel(std::move(parts.channel)), m_control(std::move(parts.control)),
      m_signal_fd(std::move(parts.signal_fd)), m_guardian(parts.guardian), m_buffer(parts.buffer),
      m_hold_lines(spec.label), m_unbuffered(spec.unbuffered), m_all(make_epoll()),
      m_others(make_epoll()), m_heartbeat(std::chrono::milliseconds(spec.ping_interval_ms),
                                          std::chrono::milliseconds(spec.ping_deadline_ms),
                                          Clock::now()),
      m_ranks(spec.ranks.size()), m_input(m_others.get(), k_first_input_id, temporary_folder()),
      m_incomplete(spec.ranks.size()) {
  for (std::size_t i = 0; i < m_ranks.size(); ++i) {
    m_ranks[i].number = static_cast<std::uint32_t>(spec.ranks[i].rank);
    add_rank(i, std::move(streams[i]));
  }
  watch_descriptors();
}

void Front::add_rank(std::size_t index, RankStreams streams) {
  if (streams.front_end[0]) m_input.add(index, std::move(streams.front_end[0]));
  for (std::size_t stream = 1; stream < 3; ++stream) {
    auto& fd = streams.front_end[stream];
    if (!fd) continue;
    if (streams.is_terminal) m_terminal = m_streams.size();
    m_streams.push_back({std::move(fd), index, LineFramer(m_ranks[index].number, stream == 2), {}});
    ++m_ranks[index].open_streams;
  }
}

void Front::watch_descriptors() {
  watch(m_others.get(), m_channel.socket.get(), k_channel_id);
  watch(m_others.get(), m_control.get(), k_control_id);
  watch(m_others.get(), m_signal_fd.get(), k_signal_id);
  watch(m_all.get(), m_others.get(), k_others_id);
  for (std::size_t i = 0; i < m_streams.size(); ++i)
    watch(m_all.get(), m_streams[i].fd.get(), i);
}

void Front::signal_ranks(int number) {
  if (number >= 1 && number <= 64) tell_guardian({Command::Kind::signal, number});
}

int Front::run() {
  if (m_ranks.empty()) tell_guardian({Command::Kind::finish, 0});
  while (!is_done()) {
    wait_and_handle();
    handle_timers();
    tell_input_state();
    flush_commands();
    flush_channel();
  }
  return finish();
}

bool Front::is_done() const {
  if (!m_guardian_gone) return false;
  return m_channel_lost || m_out.empty() || (m_leave_at && Clock::now() >= *m_leave_at);
}

int Front::next_timeout() const {
  std::optional<Clock::time_point> next = m_show_at;
  const auto sooner = [&next](Clock::time_point at) { next = next ? std::min(*next, at) : at; };
  if (!m_channel_lost) sooner(m_heartbeat.next_look());
  if (const auto at = m_input.next_time()) sooner(*at);
  if (m_held) sooner(m_hold_until);
  if (m_leave_at) sooner(*m_leave_at);
  if (m_lingering > 0)
    for (const auto& rank : m_ranks)
      if (rank.end && !rank.complete) sooner(rank.give_up_at);
  if (!next) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now());
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

void Front::wait_and_handle() {
  epoll_event events[k_batch];
  // Back-pressure: while srun does not take what we hold, the pipes are left alone and fill up.
  if (is_backed_up()) {
    if (::epoll_wait(m_others.get(), events, 1, next_timeout()) > 0) handle_others();
    return;
  }
  const int count = ::epoll_wait(m_all.get(), events, k_batch, next_timeout());
  for (int i = 0; i < count; ++i) {
    const auto id = events[i].data.u64;
    if (id == k_others_id)
      handle_others();
    else if (!is_backed_up())
      read_stream(static_cast<std::size_t>(id));
  }
}

void Front::handle_others() {
  epoll_event events[k_batch];
  const int count = ::epoll_wait(m_others.get(), events, k_batch, 0);
  for (int i = 0; i < count; ++i) {
    const auto id = events[i].data.u64;
    switch (id) {
    case k_channel_id:
      if ((events[i].events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) read_channel();
      break;
    case k_control_id: handle_events(); break;
    case k_signal_id:
      while (posix::take_signal(m_signal_fd.get()) != 0)
        m_terminated = true;
      terminate();
      break;
    default: m_input.on_ready(static_cast<std::size_t>(id - k_first_input_id), events[i].events);
    }
  }
}

void Front::handle_timers() {
  const auto now = Clock::now();
  if (!m_channel_lost && now >= m_heartbeat.next_look()) keep_in_touch(now);
  if (m_show_at && now >= *m_show_at) show_open_lines(now);
  m_input.on_time(now);
  if (m_lingering > 0)
    for (std::size_t i = 0; i < m_ranks.size(); ++i)
      check_rank(i);
  if (m_held && now >= m_hold_until) {
    report(m_ranks[*m_held]);
    m_held.reset();
  }
}

void Front::handle_events() {
  for (;;) {
    Event event;
    switch (receive_event(m_control.get(), event)) {
    case Received::nothing: return;
    case Received::closed: return on_guardian_end();
    case Received::message: on_event(std::move(event));
    }
  }
}

void Front::on_event(Event event) {
  if (event.kind == Event::Kind::clean) {
    m_clean = true;
    return;
  }
  SHIM_ASSERT(event.rank < m_ranks.size());
  auto& rank = m_ranks[event.rank];
  const auto index = event.rank;
  rank.end = std::move(event);
  rank.give_up_at = Clock::now() + k_holder_grace;
  ++m_lingering;
  check_rank(index);
}

// A rank's report comes behind all of its output. Who still holds its pipes when the leader has
// ended gets two seconds; a reader that is slow at the other end is no reason to cut.
void Front::check_rank(std::size_t index) {
  auto& rank = m_ranks[index];
  if (!rank.end || rank.complete) return;
  if (rank.open_streams > 0) {
    if (Clock::now() < rank.give_up_at) return;
    if (is_backed_up()) {
      rank.give_up_at = Clock::now() + 100ms;
      return;
    }
    drain_streams_of(index);
  }
  complete_rank(index);
}

void Front::complete_rank(std::size_t index) {
  m_ranks[index].complete = true;
  m_input.drop_rank(index);
  --m_lingering;
  if (--m_incomplete > 0) return report(m_ranks[index]);
  m_held = index;
  m_hold_until = Clock::now() + k_stray_grace;
  tell_guardian({Command::Kind::finish, 0});
}

void Front::report(const Rank& rank) {
  const auto& end = *rank.end;
  const int code = exit_code_of(end);
  m_highest_code = std::max(m_highest_code, code);
  if (end.kind == Event::Kind::failed)
    send_frame(proto::FrameType::rank_fail, rank.number, proto::encode_rank_fail({code, end.text}));
  else
    send_frame(
        proto::FrameType::rank_exit, rank.number, proto::encode_rank_exit({code, end.value}));
}

// Orderly (`clean` was said): every rank has ended and every writer is gone. Else the guardian was
// killed: the kernel has killed its ranks, the orphans have come to us, and srun is to see ranks
// that were never reported.
void Front::on_guardian_end() {
  m_control.reset();
  m_commands.clear();
  m_guardian_gone = true;
  if (!m_clean) posix::sweep_descendants([](pid_t, int) {});
  ::waitpid(m_guardian, nullptr, 0);
  for (std::size_t i = 0; i < m_ranks.size(); ++i) {
    drain_streams_of(i);
    if (m_ranks[i].end && !m_ranks[i].complete) complete_rank(i);
  }
  if (m_held) report(m_ranks[*m_held]);
  m_held.reset();
  if (m_terminated) m_leave_at = Clock::now() + k_leave_grace;
}

void Front::tell_guardian(const Command& command) {
  if (m_guardian_gone) return;
  m_commands.push_back(command);
  flush_commands();
}

void Front::flush_commands() {
  while (!m_commands.empty()) {
    // A full socket drains while the guardian works; its events wake the loop for the next try.
    if (send_command(m_control.get(), m_commands.front()) != Sent::done) return;
    m_commands.pop_front();
  }
}

void Front::terminate() {
  if (m_terminating) return;
  m_terminating = true;
  tell_guardian({Command::Kind::terminate, k_terminate_ms});
}

// What is under way already is a question, too.
void Front::keep_in_touch(Clock::time_point now) {
  switch (m_heartbeat.look(now, unacknowledged_time(m_channel.socket.get()))) {
  case Heartbeat::Verdict::quiet: return;
  case Heartbeat::Verdict::ask:
    if (m_out.empty()) send_frame(proto::FrameType::ping, 0, {});
    return;
  case Heartbeat::Verdict::dead: return lose_channel();
  }
}

int Front::finish() {
  // Unread bytes at close would reset the connection under what srun has not read yet.
  ::shutdown(m_channel.socket.get(), SHUT_WR);
  while (::recv(m_channel.socket.get(), m_buffer.data(), m_buffer.size(), MSG_DONTWAIT) > 0) {
  }
  if (m_terminated) return slurm::signal_exit(SIGTERM);
  if (!m_clean) return slurm::k_exit_launch;
  return m_channel_lost ? std::max(m_highest_code, 1) : m_highest_code;
}

} // namespace shim::stepper
