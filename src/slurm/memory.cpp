#include "slurm_shim/slurm/memory.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <array>
#include <limits>

namespace shim::slurm {

Result<std::uint64_t> parse_memory(std::string_view text, std::string_view option) {
  const auto invalid = [&] {
    return fail(
        ErrorKind::usage, "Invalid --" + std::string(option) + " specification", k_exit_usage);
  };
  const auto end = text.find_first_not_of("0123456789");
  const auto value = parse_int<std::uint64_t>(text.substr(0, end));
  if (!value || *value > std::numeric_limits<std::int64_t>::max()) return invalid();
  if (end == std::string_view::npos) return *value;
  auto unit = to_upper(text.substr(end));
  if (unit.size() == 2 && unit[1] == 'B') unit.pop_back();
  if (unit == "K") return (*value + 1023) / 1024;
  std::uint64_t factor = 0;
  if (unit == "M") factor = 1;
  if (unit == "G") factor = 1024;
  if (unit == "T") factor = std::uint64_t{1024} * 1024;
  if (factor == 0 || *value > std::numeric_limits<std::int64_t>::max() / factor) return invalid();
  return *value * factor;
}

std::string format_memory(std::uint64_t mebibytes) {
  if (mebibytes == 0) return "0";
  constexpr std::array k_units{'M', 'G', 'T', 'P', 'E'};
  std::size_t unit = 0;
  while (mebibytes % 1024 == 0 && unit + 1 < k_units.size()) {
    mebibytes /= 1024;
    ++unit;
  }
  return std::to_string(mebibytes) + k_units[unit];
}

} // namespace shim::slurm
