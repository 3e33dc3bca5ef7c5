#pragma once
// The report of doctor as text and JSON. Pure. Spec install-doctor-ports 2.

#include "checks.h"

#include <string>
#include <vector>

namespace shim::commands::doctor {

struct Line {
  const Check* check = nullptr;
  Finding finding;
  std::vector<Evidence> evidence;
};

struct Heading {
  std::string shim, engine, host, user, config;
  std::int64_t time = 0; // unix seconds
};

[[nodiscard]] std::string
report_text(const Heading& heading, const std::vector<Line>& lines, bool quiet);
[[nodiscard]] std::string report_json(const Heading& heading, const std::vector<Line>& lines);
// 0 or 1.
[[nodiscard]] int exit_code_of(const std::vector<Line>& lines, bool strict);

} // namespace shim::commands::doctor
