#pragma once
// Conversions of scalars for the configuration. Each returns nothing when the text does not fit;
// the caller knows where it stands and what was expected.

#include "slurm_shim/config/config.h"

#include <chrono>
#include <optional>
#include <string_view>

namespace shim::config {

// true/false, yes/no, on/off, any case.
[[nodiscard]] std::optional<bool> to_bool(std::string_view text);
// Go's durations: 1h30m, 1.5s, 300ms, 0; not negative; below a millisecond is cut off.
[[nodiscard]] std::optional<std::chrono::milliseconds> to_duration(std::string_view text);
// 24.05.0
[[nodiscard]] bool is_version(std::string_view text);
// per-task | per-node:<k> | <k>
[[nodiscard]] bool is_slots_rule(std::string_view text);

} // namespace shim::config
