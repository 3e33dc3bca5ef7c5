#include "slurm_shim/plan/plan.h"

#include <gtest/gtest.h>

namespace shim::plan {
namespace {

Allocation hosts(const std::vector<int>& slots) {
  Allocation out;
  for (const int count : slots) {
    const auto name = "n" + std::to_string(out.nodes.size() + 1);
    out.nodes.push_back({name, name + ".cluster.test", count, {}});
    out.tasks_per_node.push_back(count);
  }
  return out;
}

struct Step {
  int nodes = 0, ntasks = 0, per_node = 0, cpus = 0;
};

StepRequest request(const Step& step) {
  StepRequest out;
  out.nodes_min = out.nodes_max = step.nodes;
  out.ntasks = step.ntasks;
  out.ntasks_per_node = step.per_node;
  out.cpus_per_task = step.cpus;
  return out;
}

std::vector<int> counts(const Placement& placed) {
  std::vector<int> out;
  for (const auto& node : placed.nodes)
    out.push_back(node.ntasks);
  return out;
}

std::vector<std::string> names(const Placement& placed) {
  std::vector<std::string> out;
  for (const auto& node : placed.nodes)
    out.push_back(node.host);
  return out;
}

// What Slurm 22.05 did inside allocations of these shapes.
TEST(Place, geometry_is_slurms) {
  struct Row {
    std::vector<int> slots;
    Step step;
    std::vector<int> want;
  };
  const Row rows[] = {
      {{3, 1}, {2, 4}, {3, 1}},
      {{3, 1}, {2, 3}, {2, 1}},
      {{3, 1}, {1, 2}, {2}},
      {{3, 1}, {2, 2}, {1, 1}},
      {{4, 1}, {2, 5}, {4, 1}},
      {{5, 1, 1}, {3, 7}, {5, 1, 1}},
      {{5, 1, 1}, {2, 4}, {3, 1}},
      {{8, 8, 4}, {3, 20}, {8, 8, 4}},
      {{2, 2, 2, 2}, {4, 8, 2}, {2, 2, 2, 2}},
      {{2, 2, 2, 2}, {4, 4}, {1, 1, 1, 1}},
      {{8, 8}, {2, 2, 0, 4}, {1, 1}},
      {{8, 8}, {2, 0, 4}, {4, 4}},
      {{6, 2}, {0, 8, 0, 1}, {6, 2}},
      {{8, 8}, {0, 12}, {8, 4}},
  };
  for (const auto& row : rows) {
    const auto placed = place(hosts(row.slots), request(row.step));
    ASSERT_TRUE(placed) << placed.error().message;
    EXPECT_EQ(counts(*placed), row.want);
    EXPECT_TRUE(placed->warnings.empty());
  }
}

TEST(Place, refusals_are_slurms) {
  struct Row {
    std::vector<int> slots;
    Step step;
  };
  const Row rows[] = {
      {{4}, {1, 8}},           // more tasks than slots
      {{1, 1}, {2, 4}},        //
      {{1, 1}, {2, 0, 2}},     // --ntasks-per-node beyond the slots
      {{2, 1}, {1, 3}},        // the first host alone is too small
      {{8, 8}, {2, 16, 0, 4}}, // -c
      {{3, 1}, {2, 4, 0, 9}},  //
      {{2, 2}, {2, 0, 0, 3}},  // -c beyond a host, -n implied by -N
      {{3, 1}, {0, 99}},
  };
  for (const auto& row : rows) {
    const auto placed = place(hosts(row.slots), request(row.step));
    ASSERT_FALSE(placed);
    EXPECT_EQ(placed.error().message, "More processors requested than permitted");
    EXPECT_EQ(placed.error().kind, ErrorKind::refused);
    EXPECT_EQ(placed.error().exit_code, 1);
  }
}

TEST(Place, fewer_tasks_than_nodes_lowers_the_nodes) {
  const auto placed = place(hosts({3, 1}), request({2, 1}));
  ASSERT_TRUE(placed);
  EXPECT_EQ(counts(*placed), std::vector<int>{1});
  EXPECT_EQ(
      placed->warnings,
      std::vector<std::string>{"Warning: can't run 1 processes on 2 nodes, setting nnodes to 1"});
}

TEST(Place, contradicting_ntasks_per_node_is_ignored_with_slurms_warning) {
  const auto placed = place(hosts({3, 1}), request({2, 4, 1}));
  ASSERT_TRUE(placed);
  EXPECT_EQ(counts(*placed), (std::vector<int>{3, 1}));
  EXPECT_EQ(placed->warnings,
            std::vector<std::string>{
                "Warning: can't honor --ntasks-per-node set to 1 which doesn't match the requested "
                "tasks 4 with the number of requested nodes 2. Ignoring --ntasks-per-node."});
}

TEST(Place, nodelist_is_at_least_these_hosts) {
  auto wide = request({2, 2});
  wide.nodelist = {"n3"};
  const auto placed = place(hosts({1, 1, 1}), wide);
  ASSERT_TRUE(placed);
  EXPECT_EQ(names(*placed), (std::vector<std::string>{"n1", "n3"}));
}

TEST(Place, hosts_are_named_in_full_or_in_any_case) {
  for (const std::string name : {"n2", "N2", "n2.cluster.test"}) {
    auto one = request({});
    one.nodelist = {name};
    const auto placed = place(hosts({2, 3}), one);
    ASSERT_TRUE(placed) << name;
    EXPECT_EQ(names(*placed), std::vector<std::string>{"n2"});
    EXPECT_EQ(placed->nodes[0].allocation_index, 1);
    EXPECT_EQ(slurm::to_int(placed->ranks[0].node), 0);
  }
}

TEST(Place, excluded_hosts_take_no_rank) {
  auto some = request({2, 2});
  some.exclude = {"n1", "n4"};
  const auto placed = place(hosts({1, 1, 1, 1}), some);
  ASSERT_TRUE(placed);
  EXPECT_EQ(names(*placed), (std::vector<std::string>{"n2", "n3"}));
  some.exclude = {"n1", "n2", "n3"};
  const auto nothing = place(hosts({1, 1, 1, 1}), some);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().message, "Requested node configuration is not available");
}

TEST(Place, a_node_range_grows_as_far_as_the_tasks_need) {
  auto range = request({1, 5});
  range.nodes_max = 3;
  const auto placed = place(hosts({4, 4, 4}), range);
  ASSERT_TRUE(placed);
  EXPECT_EQ(counts(*placed), (std::vector<int>{4, 1}));
}

TEST(Place, overcommit_goes_beyond_the_slots) {
  auto over = request({1, 8});
  over.overcommit = true;
  const auto one = place(hosts({4}), over);
  ASSERT_TRUE(one);
  EXPECT_EQ(counts(*one), std::vector<int>{8});
  over.nodes_min = over.nodes_max = 2;
  const auto two = place(hosts({2, 1}), over);
  ASSERT_TRUE(two);
  EXPECT_EQ(counts(*two), (std::vector<int>{5, 3}));
}

TEST(Place, tasks_beyond_the_policy_use_the_free_slots) {
  auto job = hosts({8, 8});
  job.tasks_per_node = {1, 1};
  job.cpus_per_task = 8;
  const auto placed = place(job, request({0, 16}));
  ASSERT_TRUE(placed);
  EXPECT_EQ(counts(*placed), (std::vector<int>{8, 8}));
  EXPECT_EQ(placed->cpus_per_task, 1);
}

TEST(Place, the_jobs_cpus_per_task_limit_a_step_that_fits) {
  auto job = hosts({6, 2});
  job.cpus_per_task = 2;
  const auto placed = place(job, request({0, 4}));
  ASSERT_TRUE(placed);
  EXPECT_EQ(counts(*placed), (std::vector<int>{3, 1}));
  EXPECT_EQ(placed->ranks[1].cpuset, "2-3");
}

TEST(Place, an_empty_allocation_is_refused) {
  EXPECT_FALSE(place(Allocation{}, request({0, 1})));
}

} // namespace
} // namespace shim::plan
