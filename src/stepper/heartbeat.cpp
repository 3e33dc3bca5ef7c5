#include "heartbeat.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace shim::stepper {

namespace {
using namespace std::chrono_literals;
// Looks come in time unless this process was stopped itself; then nobody else was silent.
constexpr auto k_was_stopped = 5s;
} // namespace

Heartbeat::Verdict Heartbeat::look(Clock::time_point now, Milliseconds unanswered) {
  if (now < m_next) return Verdict::quiet;
  if (now - m_next > k_was_stopped) m_heard = now;
  m_next = now + m_interval;
  const auto silence = now - m_heard;
  if (silence < m_interval) return Verdict::quiet;
  // The last acknowledgement may be as old as the last thing heard, but not much younger.
  if (silence >= m_deadline && unanswered >= m_deadline / 2) return Verdict::dead;
  return Verdict::ask;
}

std::chrono::milliseconds unacknowledged_time(int socket) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0 || info.tcpi_unacked == 0)
    return std::chrono::milliseconds::zero();
  return std::chrono::milliseconds(info.tcpi_last_ack_recv);
}

} // namespace shim::stepper
