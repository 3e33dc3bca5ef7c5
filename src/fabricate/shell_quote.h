#pragma once
// Shell words for POSIX sh. The only place that builds shell text.

#include <string>
#include <string_view>

namespace shim::fabricate {

// In single quotes; every byte but NUL survives.
[[nodiscard]] std::string shell_quote(std::string_view text);

} // namespace shim::fabricate
