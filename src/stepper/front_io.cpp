#include "front.h"

#include "slurm_shim/posix/terminal.h"
#include "slurm_shim/proto/frame.h"
#include "slurm_shim/proto/messages.h"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace shim::stepper {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t k_read_bytes = std::size_t{256} << 10;
constexpr std::size_t k_send_bytes = std::size_t{256} << 10; // enough for one send within a batch
constexpr auto k_show_after = 100ms;                         // an open line that is not labelled

} // namespace

void Front::read_stream(std::size_t index) {
  auto& stream = m_streams[index];
  if (!stream.fd) return;
  const auto got =
      ::read(stream.fd.get(), m_buffer.data(), std::min(k_read_bytes, m_buffer.size()));
  if (got > 0)
    take_output(stream, {m_buffer.data(), static_cast<std::size_t>(got)});
  else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    close_stream(stream);
    check_rank(stream.rank);
  }
  if (m_out.size() >= k_send_bytes) flush_channel();
}

void Front::take_output(Stream& stream, std::string_view bytes) {
  // Nobody is left who would show it; reading on keeps the writers alive.
  if (m_channel_lost || m_ranks[stream.rank].complete) return;
  stream.framer.feed(bytes, m_out);
  if (!stream.framer.has_partial()) return;
  if (m_unbuffered) {
    stream.framer.flush(m_out);
  } else if (!m_hold_lines) {
    stream.show_at = Clock::now() + k_show_after;
    if (!m_show_at) m_show_at = stream.show_at;
  }
}

void Front::close_stream(Stream& stream) {
  stream.fd.reset();
  --m_ranks[stream.rank].open_streams;
  if (!m_channel_lost && !m_ranks[stream.rank].complete) stream.framer.flush(m_out);
}

// What is in the pipes now, and the open lines; the pipes stay open for whoever holds them.
void Front::drain_streams_of(std::size_t rank) {
  for (auto& stream : m_streams) {
    if (stream.rank != rank || !stream.fd || m_ranks[rank].complete) continue;
    // A pipe holds less than this many reads; an endless writer does not keep us here.
    for (int round = 0; round < 8; ++round) {
      const auto got =
          ::read(stream.fd.get(), m_buffer.data(), std::min(k_read_bytes, m_buffer.size()));
      if (got <= 0) {
        if (got == 0) close_stream(stream);
        break;
      }
      take_output(stream, {m_buffer.data(), static_cast<std::size_t>(got)});
    }
    if (!m_channel_lost) stream.framer.flush(m_out);
  }
}

void Front::show_open_lines(Clock::time_point now) {
  m_show_at.reset();
  for (auto& stream : m_streams) {
    if (!stream.framer.has_partial()) continue;
    if (stream.show_at <= now)
      stream.framer.flush(m_out);
    else
      m_show_at = m_show_at ? std::min(*m_show_at, stream.show_at) : stream.show_at;
  }
}

void Front::send_frame(proto::FrameType type, std::uint32_t rank, std::string_view payload) {
  if (m_channel_lost) return;
  std::string frame;
  proto::append_frame(frame, type, 0, rank, payload);
  m_out.append(frame);
}

void Front::flush_channel() {
  while (!m_out.empty() && !m_channel_lost) {
    const auto bytes = m_out.pending();
    const auto sent =
        ::send(m_channel.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0)
      m_out.consume(static_cast<std::size_t>(sent));
    else if (errno == EAGAIN)
      return watch_writable(true);
    else if (errno != EINTR)
      return lose_channel();
  }
  watch_writable(false);
}

void Front::watch_writable(bool wanted) {
  if (wanted == m_watch_writable || m_channel_lost) return;
  m_watch_writable = wanted;
  epoll_event event{};
  event.events = EPOLLIN | (wanted ? EPOLLOUT : 0U);
  ::epoll_ctl(m_others.get(), EPOLL_CTL_MOD, m_channel.socket.get(), &event); // id 0
}

void Front::read_channel() {
  const int socket = m_channel.socket.get();
  const auto kept = m_channel.stream.begin(m_buffer);
  const auto got = ::recv(socket, m_buffer.data() + kept, m_buffer.size() - kept, MSG_DONTWAIT);
  const int error = errno;
  if (got > 0) m_heartbeat.heard(Clock::now());
  const std::string_view bytes(m_buffer.data(),
                               kept + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  const auto parsed = m_channel.stream.finish(bytes, [this](const proto::FrameView& frame) {
    on_frame(frame);
    return Result<void>{};
  });
  if (!parsed || got == 0 || (got < 0 && error != EAGAIN && error != EINTR)) lose_channel();
}

void Front::take_frames(std::string_view frames) {
  std::size_t used = 0;
  for (; !frames.empty(); frames.remove_prefix(used)) {
    const auto frame = proto::parse_frame(frames, used);
    if (!frame || !*frame) return;
    on_frame(**frame);
  }
}

void Front::on_frame(const proto::FrameView& frame) {
  switch (static_cast<proto::FrameType>(frame.header.type)) {
  case proto::FrameType::ping: return send_frame(proto::FrameType::pong, 0, {});
  case proto::FrameType::sig:
    if (const auto number = proto::decode_i32(frame.payload)) signal_ranks(*number);
    return;
  case proto::FrameType::in: return on_input(frame);
  case proto::FrameType::window_size: return on_window_size(frame);
  default: return; // what a newer srun may say
  }
}

void Front::on_input(const proto::FrameView& frame) {
  if ((frame.header.flags & proto::k_in_others_wait) != 0) m_input.put_aside_for_others();
  std::optional<std::size_t> rank; // all
  if (frame.header.rank != proto::k_all_ranks) {
    const auto found =
        std::find_if(m_ranks.begin(), m_ranks.end(), [&frame](const Rank& candidate) {
          return candidate.number == frame.header.rank;
        });
    if (found == m_ranks.end()) return;
    rank = static_cast<std::size_t>(found - m_ranks.begin());
  }
  const bool is_end = (frame.header.flags & proto::k_in_end) != 0;
  m_input.take(rank, frame.payload, is_end);
  // The user's terminal is gone; the rank's is to look the same.
  if (is_end && m_terminal) signal_ranks(SIGHUP);
}

void Front::on_window_size(const proto::FrameView& frame) {
  const auto size = proto::decode_window_size(frame.payload);
  if (size && m_terminal && m_streams[*m_terminal].fd)
    posix::set_window_size(m_streams[*m_terminal].fd.get(), *size); // tells the foreground group
}

void Front::tell_input_state() {
  if (const auto credit = m_input.take_credit(); credit > 0)
    send_frame(proto::FrameType::in_ack, 0, proto::encode_i32(static_cast<std::int32_t>(credit)));
  if (m_input.take_closed()) {
    std::string frame;
    proto::append_frame(
        frame, proto::FrameType::in_ack, proto::k_ack_closed, 0, proto::encode_i32(0));
    if (!m_channel_lost) m_out.append(frame);
  }
  if (const auto rank = m_input.take_failure())
    LineFramer(m_ranks[*rank].number, true)
        .feed("slurm-shim: error: standard input that was put aside cannot be read back\n", m_out);
}

// srun is gone: TERM, 5 s, KILL. Decision 7a keeps us alive until the ranks are gone, and the exit
// is an orderly one.
void Front::lose_channel() {
  if (m_channel_lost) return;
  m_channel_lost = true;
  m_out.clear();
  ::epoll_ctl(m_others.get(), EPOLL_CTL_DEL, m_channel.socket.get(), nullptr);
  terminate();
}

} // namespace shim::stepper
