#pragma once
// What was asked for, from accounting's category ("-l h_rt=3600,gpu=2 -pe mpi 4").

#include "slurm_shim/config/config.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace shim::history {

// The value of a complex in the hard -l requests, "" when it was not asked for.
[[nodiscard]] std::string requested(std::string_view category, std::string_view complex);
// "3600" or "1:00:00" in seconds; 0 when it is neither or unlimited.
[[nodiscard]] std::int64_t duration_of(std::string_view text);

} // namespace shim::history
