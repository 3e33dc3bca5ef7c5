#pragma once
// Slurm's memory sizes: --mem, --mem-per-cpu, --mem-per-gpu, --tmp. Megabytes by default, K rounds
// up to the next one. Pure. vectors/03 mem*

#include "slurm_shim/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace shim::slurm {

// Mebibytes of: 100, 1500K, 512M, 4G, 1T, each with an optional B, any case. 0 = all of the node.
// Error (usage, exit 255): "Invalid --<option> specification".
[[nodiscard]] Result<std::uint64_t> parse_memory(std::string_view text, std::string_view option);

// The largest unit that divides evenly: 1024 -> "1G", 16000 -> "16000M", 0 -> "0".
[[nodiscard]] std::string format_memory(std::uint64_t mebibytes);

} // namespace shim::slurm
