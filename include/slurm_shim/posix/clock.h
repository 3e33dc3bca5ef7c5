#pragma once
// Wall time as a seam for tests.

#include <chrono>
#include <cstdint>

namespace shim::posix {

class Clock {
public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;
  [[nodiscard]] virtual std::int64_t unix_ms() const = 0; // milliseconds since the epoch
  virtual void sleep_for(std::chrono::milliseconds duration) = 0;
};

class SystemClock final : public Clock {
public:
  [[nodiscard]] std::int64_t unix_ms() const override;
  void sleep_for(std::chrono::milliseconds duration) override;
};

} // namespace shim::posix
