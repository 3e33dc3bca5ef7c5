#pragma once
// When the front asks srun for a sign of life, and when it takes the connection for dead. A stopped
// srun says nothing for as long as it likes, but its kernel still acknowledges; a host or a network
// that is gone does not even that. Only both together are death. Pure: times and the connection's
// state come from the caller. Spec protocol 7.6.

#include <chrono>

namespace shim::stepper {

class Heartbeat {
public:
  using Clock = std::chrono::steady_clock;
  using Milliseconds = std::chrono::milliseconds;
  enum class Verdict { quiet, ask, dead };

  // `interval`: silence after which srun is asked; `deadline`: silence that may be death.
  Heartbeat(Milliseconds interval, Milliseconds deadline, Clock::time_point now)
      : m_interval(interval), m_deadline(deadline), m_heard(now), m_next(now + interval) {}

  void heard(Clock::time_point now) { m_heard = now; }
  [[nodiscard]] Clock::time_point next_look() const { return m_next; }
  // `unanswered`: how long the peer's kernel has not acknowledged what was sent; zero when it has.
  [[nodiscard]] Verdict look(Clock::time_point now, Milliseconds unanswered);

private:
  Milliseconds m_interval, m_deadline;
  Clock::time_point m_heard, m_next;
};

// For how long the peer of a TCP connection has acknowledged nothing although something was sent;
// zero when nothing is outstanding, or on a socket of another kind.
[[nodiscard]] std::chrono::milliseconds unacknowledged_time(int socket);

} // namespace shim::stepper
