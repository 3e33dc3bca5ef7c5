#pragma once
// Slurm's durations: what --time and --time-min accept, and how limits and run times are printed.
// Owns the rounding of seconds up to minutes and the arithmetic of the original (32 bits: a number
// too large wraps as it does there). Pure. Callers: sbatch, srun, squeue, scontrol, sacct.
// vectors/03 time.*

#include "slurm_shim/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace shim::slurm {

inline constexpr std::uint32_t k_unlimited_minutes = 0xffffffff;

// Minutes of: M, M:S, H:M:S, D-H, D-H:M, D-H:M:S, -1, INFINITE, UNLIMITED. 0 means unlimited and
// gives k_unlimited_minutes. Error (usage, exit 255): "Invalid --<option> specification".
[[nodiscard]] Result<std::uint32_t> parse_time_limit(std::string_view text,
                                                     std::string_view option = "time");

// "[D-]HH:MM:SS" or "UNLIMITED", as scontrol prints limits.
[[nodiscard]] std::string format_time_limit(std::uint32_t minutes);
// "[D-]HH:MM:SS", days only when there are any: scontrol's RunTime.
[[nodiscard]] std::string format_duration(std::int64_t seconds);
// "[D-][H:]MM:SS" with the first number unpadded, as squeue prints TIME: 0:05, 12:34, 1:00:00,
// 2-03:04:05.
[[nodiscard]] std::string format_duration_short(std::int64_t seconds);
// squeue's TIME_LIMIT: format_duration_short of the limit, or "UNLIMITED".
[[nodiscard]] std::string format_time_limit_short(std::uint32_t minutes);

} // namespace shim::slurm
