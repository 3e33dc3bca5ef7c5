#pragma once
// The queue's starter script, carried in the binary so that a lone binary can install itself and
// tell whether what is installed is its own. Generated at build time from
// scripts/starter_method.sh (cmake/EmbedStarter.cmake). Spec job-files 4.

#include <string_view>

namespace shim::records {
[[nodiscard]] std::string_view starter_text();
} // namespace shim::records
