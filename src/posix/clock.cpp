#include "slurm_shim/posix/clock.h"

#include <cerrno>
#include <ctime>

namespace shim::posix {

std::int64_t SystemClock::unix_ms() const {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

void SystemClock::sleep_for(std::chrono::milliseconds duration) {
  timespec left{duration.count() / 1000, duration.count() % 1000 * 1'000'000};
  while (::clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
  }
}

} // namespace shim::posix
