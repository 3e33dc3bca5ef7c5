#include "slurm_shim/ge/date_time.h"

#include <fmt/core.h>

#include <ctime>

namespace shim::ge {

std::string date_time_argument(std::int64_t when) {
  const auto seconds = static_cast<std::time_t>(when);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return fmt::format("{:04}{:02}{:02}{:02}{:02}.{:02}",
                     local.tm_year + 1900,
                     local.tm_mon + 1,
                     local.tm_mday,
                     local.tm_hour,
                     local.tm_min,
                     local.tm_sec);
}

} // namespace shim::ge
