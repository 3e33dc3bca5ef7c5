#pragma once
// The queue's starter script, carried in the binary so that a lone binary can install itself.
// Generated at build time from scripts/starter_method.sh (cmake/EmbedStarter.cmake).

#include <string_view>

namespace shim::commands::admin {
[[nodiscard]] std::string_view starter_text();
} // namespace shim::commands::admin
