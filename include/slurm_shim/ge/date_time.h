#pragma once
// Instants as the engine's tools take them. The forms in which they print them are their readers'.

#include <cstdint>
#include <string>

namespace shim::ge {

// Unix seconds for `qsub -a`, `qalter -a`, `qacct -b`: CCYYMMDDhhmm.SS, local time.
[[nodiscard]] std::string date_time_argument(std::int64_t when);

} // namespace shim::ge
