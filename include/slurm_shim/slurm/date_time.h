#pragma once
// Points in time as --begin and --deadline take them: now+1hour, noon tomorrow, 16:00, 0102,
// 2027-01-01T12:00. Local time of the process (TZ). Pure but for libc's time zone. vectors/03
// begin.*

#include "slurm_shim/base/result.h"

#include <ctime>
#include <string>
#include <string_view>

namespace shim::slurm {

// Error (usage, exit 255): "Invalid time specification (pos=9): <text>". Slurm prints that line
// without a prefix and then "<command>: error: Invalid --begin specification".
[[nodiscard]] Result<std::time_t> parse_date_time(std::string_view text, std::time_t now);

// "2026-11-30T01:43:00" in local time, as every Slurm command prints times.
[[nodiscard]] std::string format_date_time(std::time_t when);
// The same under SLURM_TIME_FORMAT: "" and "standard" as above, "relative" to `now` (14:05:00,
// Tomorr 14:05, Sat 14:05, 4 Oct 14:05, 4 Oct 2025), anything else is a strftime format.
[[nodiscard]] std::string
format_date_time(std::time_t when, std::string_view time_format, std::time_t now);

} // namespace shim::slurm
