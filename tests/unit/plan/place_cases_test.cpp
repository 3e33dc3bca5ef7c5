// The recorded placements, with the results this project wants where they differ.
#include "slurm_shim/plan/plan.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>

#include "support/case_file.h"

namespace shim::plan {
namespace {

using nlohmann::json;

std::vector<int> ints(const json& value) {
  return value.is_null() ? std::vector<int>{} : value.get<std::vector<int>>();
}

Devices devices(const json& value) {
  Devices out;
  for (const int number : ints(value))
    out.push_back(std::to_string(number));
  return out;
}

std::vector<std::string> strings(const json& value) {
  return value.is_null() ? std::vector<std::string>{} : value.get<std::vector<std::string>>();
}

Allocation allocation_of(const json& c) {
  Allocation allocation;
  for (const auto& node : c["nodes"])
    allocation.nodes.push_back({node["host"], "", node["slots"], devices(node["gpus"])});
  allocation.tasks_per_node = ints(c["per_node"]);
  allocation.cpus_per_task = c["cpus_per_task"];
  return allocation;
}

StepRequest request_of(const json& c) {
  StepRequest request;
  request.nodes_min = request.nodes_max = c["Nodes"];
  request.ntasks = c["NTasks"];
  request.ntasks_per_node = c["TasksPerNode"];
  request.cpus_per_task = c["CPUsPerTask"];
  if (const int each = c["GPUsPerTask"]; each != 0)
    request.devices.per_task = DeviceCount{each, false, "--gpus-per-task=" + std::to_string(each)};
  request.nodelist = strings(c["Nodelist"]);
  request.devices.divide = c["AutoDivideGPUs"];
  return request;
}

// Slurm's own words, where the original had others.
const std::map<std::string, std::string> k_errors = {
    {"-n over capacity", "More processors requested than permitted"},
    {"-w unknown", "Requested node configuration is not available"},
    {"-N over", "Only allocated 2 nodes asked for 3"},
    {"negative -n", "Invalid numeric value \"-1\" for --ntasks."},
    {"gpus-per-task too many", "--gpus-per-task=2 exceeds the 2 GPUs granted on node001"},
};

// Tasks per host of the step, where the original placed otherwise: hosts without a rank are not in
// the step, -N gives every host a task first, and limits the hosts of -w.
const std::map<std::string, std::vector<int>> k_counts = {
    {"-n smaller than the first host leaves later hosts without ranks but in the step", {3}},
    {"-N 2 -n 4 fills block, not balanced", {3, 1}},
    {"-w with -N: -N only switches to one per node", {1}},
    {"zero capacity host (gpu policy)", {2}},
};

const std::map<std::string, std::string> k_more_warnings = {
    {"-c 4 makes cpusets, does not lower capacity",
     "Warning: 4 tasks of 4 CPUs share the 4 slots of node001"},
    {"-w with -N: -N only switches to one per node",
     "error: Required nodelist includes more nodes than permitted by max-node count (2 > 1). "
     "Eliminating nodes from the nodelist."},
};

// The notice that told users of the whole grant is not printed.
std::vector<std::string> wanted_warnings(const std::string& name, const json& recorded) {
  std::vector<std::string> out;
  for (const auto& line : strings(recorded))
    if (!line.starts_with("srun: notice: ")) out.push_back(line.substr(sizeof("srun: ") - 1));
  if (const auto more = k_more_warnings.find(name); more != k_more_warnings.end())
    out.push_back(more->second);
  return out;
}

void expect_ranks(const Placement& placed, const json& recorded) {
  ASSERT_EQ(placed.ranks.size(), recorded["ranks"].size());
  for (std::size_t i = 0; i < placed.ranks.size(); ++i) {
    const auto& rank = placed.ranks[i];
    const auto& want = recorded["ranks"][i];
    EXPECT_EQ(slurm::to_int(rank.rank), want["rank"].get<int>());
    EXPECT_EQ(slurm::to_int(rank.local), want["local"].get<int>());
    EXPECT_EQ(slurm::to_int(rank.node), want["node"].get<int>());
    EXPECT_EQ(rank.cpuset, want["cpuset"].get<std::string>());
    EXPECT_EQ(rank.gpus, devices(want["gpus"]));
  }
}

void expect_placement(const std::string& name,
                      const Placement& placed,
                      const std::vector<std::string>& warnings,
                      const json& recorded) {
  std::vector<int> counts;
  std::vector<std::string> hosts;
  for (const auto& node : placed.nodes) {
    counts.push_back(node.ntasks);
    hosts.push_back(node.host);
  }
  EXPECT_EQ(placed.cpus_per_task, recorded["cpus_per_task"].get<int>());
  EXPECT_EQ(warnings, wanted_warnings(name, recorded["warnings"]));
  if (const auto other = k_counts.find(name); other != k_counts.end()) {
    EXPECT_EQ(counts, other->second);
    return;
  }
  EXPECT_EQ(hosts, strings(recorded["nodes"]));
  expect_ranks(placed, recorded);
}

TEST(Place, recorded_cases) {
  for (const auto& c : test::cases_of("place")) {
    const auto name = c["name"].get<std::string>();
    SCOPED_TRACE(name);
    std::vector<std::string> warnings;
    const auto placed = place(allocation_of(c["allocation"]), request_of(c["request"]), warnings);
    if (const auto error = k_errors.find(name); error != k_errors.end()) {
      ASSERT_FALSE(placed);
      EXPECT_EQ(placed.error().message, error->second);
      EXPECT_EQ(placed.error().exit_code, 1);
      continue;
    }
    ASSERT_TRUE(placed) << placed.error().message;
    expect_placement(name, *placed, warnings, c["out"]);
  }
}

TEST(AssignDevices, recorded_cases) {
  for (const auto& c : test::cases_of("assign_devices")) {
    const auto out = assign_devices(
        devices(c["devices"]), c["local_tasks"], c["gpus_per_task"], c["auto_divide"]);
    std::vector<Devices> want;
    for (const auto& rank : c["per_rank"])
      want.push_back(devices(rank));
    EXPECT_EQ(out.per_rank, want) << c;
    EXPECT_EQ(out.shared, c["shared"].get<bool>()) << c;
  }
}

} // namespace
} // namespace shim::plan
