#pragma once
// Reads the recorded cases of tests/cases for table tests.

#include <nlohmann/json.hpp>

#include <fstream>
#include <stdexcept>
#include <string>

namespace shim::test {

inline nlohmann::json load_json(const std::string& path_below_tests) {
  std::ifstream file(std::string(SHIM_TEST_DATA) + "/" + path_below_tests);
  if (!file) throw std::runtime_error("no test data: " + path_below_tests);
  return nlohmann::json::parse(file);
}

// One topic of the original's core cases; never empty.
inline nlohmann::json cases_of(const std::string& topic) {
  auto cases = load_json("cases/go-original-core.json").at(topic);
  if (cases.empty()) throw std::runtime_error("no cases: " + topic);
  return cases;
}

} // namespace shim::test
