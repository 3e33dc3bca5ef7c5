#include "input_pump.h"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <cstring>

namespace shim::commands::srun {

using namespace std::chrono_literals;

namespace {
constexpr std::size_t k_chunk = std::size_t{64} << 10;
constexpr std::size_t k_smallest_read = std::size_t{16} << 10; // less room is not worth a frame
constexpr int k_chunks_per_turn = 8;
constexpr auto k_stopped = 1s;
} // namespace

InputPump::InputPump(boost::asio::io_context& loop,
                     int fd,
                     std::optional<int> only_rank,
                     std::vector<std::shared_ptr<proto::Channel>> hosts,
                     std::function<void(const std::string&)> on_error)
    : m_loop(loop), m_source(loop, fd),
      m_rank(only_rank ? static_cast<std::uint32_t>(*only_rank) : proto::k_all_ranks),
      m_on_error(std::move(on_error)) {
  for (auto& channel : hosts)
    m_hosts.push_back({std::move(channel), 0, {}});
}

void InputPump::stop() {
  m_is_done = true;
  m_source.cancel();
}

std::size_t InputPump::room() const {
  std::size_t least = proto::k_input_window;
  bool has_reader = false;
  for (const auto& host : m_hosts) {
    if (!host.channel) continue;
    has_reader = true;
    least = std::min(least, proto::k_input_window - host.unacknowledged);
  }
  return has_reader ? least : 0;
}

void InputPump::pump() {
  if (m_is_waiting || m_is_posted) return;
  for (int i = 0; i < k_chunks_per_turn; ++i)
    if (!pump_once()) return;
  // A file never makes us wait; others want their turn.
  m_is_posted = true;
  boost::asio::post(m_loop, [this, alive = std::weak_ptr<const bool>(m_alive)] {
    if (alive.expired()) return;
    m_is_posted = false;
    pump();
  });
}

// False: no more now. Somebody calls again: the source, credit, a tick, or nobody.
bool InputPump::pump_once() {
  const auto most = std::min(room(), k_chunk);
  if (m_is_done || most < k_smallest_read) return false;
  std::string frame(proto::k_header_bytes + most, '\0');
  const auto got = m_source.read({frame.data() + proto::k_header_bytes, most});
  m_is_in_background = got.kind == InputSource::Kind::background;
  switch (got.kind) {
  case InputSource::Kind::background: return false;
  case InputSource::Kind::nothing_now: wait(); return false;
  case InputSource::Kind::bytes:
    frame.resize(proto::k_header_bytes + got.count);
    if (got.count < most / 4) frame.shrink_to_fit(); // it may wait for the socket
    send(std::move(frame), got.count);
    return true;
  case InputSource::Kind::end: break;
  }
  m_is_done = true;
  if (got.error != 0) m_on_error(fail_errno("stdin", got.error).value().message);
  for (const auto& host : m_hosts)
    if (host.channel) host.channel->send(proto::FrameType::in, proto::k_in_end, m_rank, {});
  return false;
}

void InputPump::send(std::string frame, std::size_t payload) {
  unsigned char header[proto::k_header_bytes];
  proto::encode_header({static_cast<std::uint8_t>(proto::FrameType::in),
                        0,
                        m_rank,
                        static_cast<std::uint32_t>(payload)},
                       header);
  std::memcpy(frame.data(), header, sizeof header);
  const auto shared = std::make_shared<const std::string>(std::move(frame));
  const auto now = Clock::now();
  for (auto& host : m_hosts) {
    if (!host.channel) continue;
    if (host.unacknowledged == 0) host.heard = now;
    host.unacknowledged += payload;
    host.channel->send_shared(shared);
  }
}

void InputPump::wait() {
  m_is_waiting = true;
  m_source.wait([this, alive = std::weak_ptr<const bool>(m_alive)] {
    if (alive.expired()) return;
    m_is_waiting = false;
    pump();
  });
}

Result<void> InputPump::on_credit(std::size_t host, std::uint32_t credit, bool is_closed) {
  auto& which = m_hosts[host];
  if (!which.channel) return {};
  if (credit > which.unacknowledged)
    return fail(ErrorKind::malformed, "credit for input that was not sent");
  which.unacknowledged -= credit;
  which.heard = Clock::now();
  if (is_closed) which.channel.reset();
  pump();
  return {};
}

void InputPump::lose_host(std::size_t host) {
  m_hosts[host].channel.reset();
  pump();
}

void InputPump::on_tick(Clock::time_point now) {
  if (m_is_in_background) pump();
  if (m_is_done || room() >= k_smallest_read) return;
  const bool others_wait = std::any_of(m_hosts.begin(), m_hosts.end(), [](const Host& host) {
    return host.channel && host.unacknowledged <= proto::k_input_window / 2;
  });
  if (!others_wait) return;
  for (auto& host : m_hosts) {
    const bool is_full =
        host.channel && proto::k_input_window - host.unacknowledged < k_smallest_read;
    if (!is_full || now - host.heard < k_stopped) continue;
    host.heard = now; // once a second
    host.channel->send(proto::FrameType::in, proto::k_in_others_wait, m_rank, {});
  }
}

} // namespace shim::commands::srun
