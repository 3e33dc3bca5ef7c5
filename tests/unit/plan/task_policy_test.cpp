#include "slurm_shim/plan/task_policy.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/case_file.h"

namespace shim::plan {
namespace {

using nlohmann::json;

std::vector<HostGrant> hosts_of(const json& nodes) {
  std::vector<HostGrant> hosts;
  for (const auto& node : nodes)
    hosts.push_back({node["Slots"], node["GPUs"]});
  return hosts;
}

TEST(TaskPolicy, recorded_cases) {
  for (const auto& c : test::cases_of("task_policy")) {
    SCOPED_TRACE(c.dump());
    const auto policy = parse_task_policy(c["policy"].get<std::string>());
    if (!policy) {
      EXPECT_EQ(policy.error().message, c["error"].get<std::string>());
      continue;
    }
    const auto counts = apply_task_policy(*policy, hosts_of(c["nodes"]));
    if (c.contains("error")) {
      ASSERT_FALSE(counts);
      EXPECT_EQ(counts.error().message, c["error"].get<std::string>());
      continue;
    }
    const auto& out = c["out"];
    ASSERT_TRUE(counts) << counts.error().message;
    EXPECT_EQ(json(counts->per_node), out["PerNode"]);
    EXPECT_EQ(counts->ntasks, out["NTasks"].get<int>());
    // More devices than slots still leave every task one CPU.
    const int least = out["CPUsPerTaskSet"].get<bool>() ? 1 : 0;
    EXPECT_EQ(counts->cpus_per_task, std::max(out["CPUsPerTask"].get<int>(), least));
    const auto warnings = out["Warnings"].is_null() ? json::array() : out["Warnings"];
    EXPECT_EQ(json(counts->warnings), warnings);
  }
}

TEST(TaskPolicy, words_round_trip) {
  for (const std::string word : {"slot", "node", "gpu"})
    EXPECT_EQ(to_text(parse_task_policy(word).value()), word);
  EXPECT_FALSE(parse_task_policy("Slot"));
}

} // namespace
} // namespace shim::plan
