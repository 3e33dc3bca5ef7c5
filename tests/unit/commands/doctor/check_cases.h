#pragma once
// One thing broken in a healthy installation, and what doctor says of it.

#include "world.h"

#include <functional>
#include <string>
#include <vector>

namespace shim::test {

struct DoctorCase {
  std::string id, name; // of the check; of the case
  std::function<void(DoctorWorld&)> change;
  std::string status, message, advice; // parts of the texts; "" = nothing to look for
  bool ocs = false;
};

[[nodiscard]] std::vector<DoctorCase> engine_cases();
[[nodiscard]] std::vector<DoctorCase> installation_cases();
[[nodiscard]] std::vector<DoctorCase> site_cases();

} // namespace shim::test
