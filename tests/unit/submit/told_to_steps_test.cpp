#include "told_to_steps.h"

#include <gtest/gtest.h>

namespace shim::submit {
namespace {

std::vector<std::string> options_of(const Request& request) {
  std::vector<std::string> names;
  for (const auto& line : told_to_steps(request))
    names.push_back(line.substr(0, line.find(':')));
  return names;
}

TEST(ToldToSteps, each_option_once_and_by_its_name) {
  Request r;
  EXPECT_TRUE(told_to_steps(r).empty());
  r.hint = "nomultithread";
  r.threads_per_core = 1;
  r.tasks_per_core = 1;
  r.tasks_per_socket = 2;
  EXPECT_EQ(options_of(r),
            (std::vector<std::string>{
                "--hint", "--threads-per-core", "--ntasks-per-core", "--ntasks-per-socket"}));
}

} // namespace
} // namespace shim::submit
