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

struct Outcome {
  Result<Placement> placement;
  std::vector<std::string> warnings;
  explicit operator bool() const { return placement.has_value(); }
  const Placement& operator*() const { return *placement; }
  const Placement* operator->() const { return &*placement; }
  [[nodiscard]] const Error& error() const { return placement.error(); }
};

Outcome place(const Allocation& allocation, const StepRequest& wanted) {
  std::vector<std::string> warnings;
  auto placement = plan::place(allocation, wanted, warnings);
  return {std::move(placement), std::move(warnings)};
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
    EXPECT_TRUE(placed.warnings.empty());
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
      placed.warnings,
      std::vector<std::string>{"Warning: can't run 1 processes on 2 nodes, setting nnodes to 1"});
}

TEST(Place, contradicting_ntasks_per_node_is_ignored_with_slurms_warning) {
  const auto placed = place(hosts({3, 1}), request({2, 4, 1}));
  ASSERT_TRUE(placed);
  EXPECT_EQ(counts(*placed), (std::vector<int>{3, 1}));
  EXPECT_EQ(placed.warnings,
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

TEST(Place, a_node_range_takes_as_many_hosts_as_there_are_tasks_for) {
  auto range = request({1, 5});
  range.nodes_max = 3;
  EXPECT_EQ(counts(*place(hosts({4, 4, 4}), range)), (std::vector<int>{3, 1, 1}));
  range.ntasks = 2;
  EXPECT_EQ(counts(*place(hosts({4, 4, 4}), range)), (std::vector<int>{1, 1}));
  range.cpus_per_task = 3;
  EXPECT_EQ(counts(*place(hosts({6, 2, 2}), range)), std::vector<int>{2}); // none fits the others
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

// "1:0 2:0": host and local id of each rank.
std::string order(const Placement& placed) {
  std::string out;
  for (const auto& rank : placed.ranks) {
    const auto& host = placed.nodes[static_cast<std::size_t>(slurm::to_int(rank.node))].host;
    out +=
        (out.empty() ? "" : " ") + host.substr(1) + ":" + std::to_string(slurm::to_int(rank.local));
  }
  return out;
}

// As Slurm 22.05 dealt ranks out in allocations of these shapes.
TEST(Place, distributions_are_slurms) {
  struct Row {
    std::vector<int> slots;
    int ntasks;
    const char* kind;
    const char* want;
  };
  const Row rows[] = {
      {{4, 1}, 5, "block", "1:0 1:1 1:2 1:3 2:0"},
      {{4, 1}, 5, "cyclic", "1:0 2:0 1:1 1:2 1:3"},
      {{4, 1}, 5, "plane=2", "1:0 1:1 2:0 1:2 1:3"},
      {{5, 1, 1}, 7, "cyclic", "1:0 2:0 3:0 1:1 1:2 1:3 1:4"},
      {{5, 1, 1}, 7, "plane=2", "1:0 1:1 2:0 3:0 1:2 1:3 1:4"},
      {{5, 1}, 6, "plane=3", "1:0 1:1 1:2 2:0 1:3 1:4"},
      {{7, 1}, 8, "cyclic:cyclic", "1:0 2:0 1:1 1:2 1:3 1:4 1:5 1:6"},
      {{8, 8}, 4, "cyclic", "1:0 2:0 1:1 2:1"},
      {{8, 8}, 3, "block,pack", "1:0 1:1 1:2"},
  };
  for (const auto& row : rows) {
    auto wanted = request({static_cast<int>(row.slots.size()), row.ntasks});
    wanted.distribution = slurm::parse_distribution(row.kind).value();
    const auto placed = place(hosts(row.slots), wanted);
    ASSERT_TRUE(placed) << row.kind << placed.error().message;
    EXPECT_EQ(order(*placed), row.want) << row.kind;
  }
}

TEST(Place, cyclic_goes_on_in_turn_when_overcommitted) {
  auto over = request({2, 7});
  over.overcommit = true;
  over.distribution = slurm::parse_distribution("cyclic").value();
  const auto placed = place(hosts({2, 1}), over);
  ASSERT_TRUE(placed);
  EXPECT_EQ(order(*placed), "1:0 2:0 1:1 1:2 2:1 1:3 2:2");
}

StepRequest listed(std::vector<std::string> names, int ntasks = 0) {
  auto out = request({2, ntasks});
  out.nodes_implied = true;
  out.distribution.nodes = slurm::Distribution::Nodes::arbitrary;
  out.rank_hosts = std::move(names);
  return out;
}

TEST(Place, arbitrary_is_the_list_and_hosts_keep_the_jobs_order) {
  const auto job = hosts({3, 1});
  EXPECT_EQ(order(*place(job, listed({"n1", "n2", "n2", "n1"}, 4))), "1:0 2:0 2:1 1:1");
  const auto turned = place(job, listed({"n2", "n1", "n1", "n1"}, 4));
  ASSERT_TRUE(turned);
  EXPECT_EQ(order(*turned), "2:0 1:0 1:1 1:2");
  EXPECT_EQ(names(*turned), (std::vector<std::string>{"n1", "n2"}));
  EXPECT_EQ(slurm::to_int(turned->ranks[0].node), 1);
  const auto one = place(job, listed({"n2", "n2"}));
  ASSERT_TRUE(one);
  EXPECT_EQ(names(*one), std::vector<std::string>{"n2"});
  EXPECT_TRUE(one.warnings.empty());
}

TEST(Place, a_list_that_does_not_fit_is_refused) {
  const auto job = hosts({3, 1});
  EXPECT_EQ(place(job, listed({"n1", "n9"})).error().message,
            "Requested node configuration is not available");
  EXPECT_EQ(place(job, listed({"n1"}, 2)).error().message,
            "--distribution=arbitrary: 2 tasks, but the list of hosts has 1");
  EXPECT_EQ(place(job, listed(std::vector<std::string>(5, "n1"))).error().message,
            "More processors requested than permitted");
}

TEST(Place, relative_starts_further_on) {
  auto one = request({1, 1});
  one.relative = 2;
  EXPECT_EQ(names(*place(hosts({5, 1, 1}), one)), std::vector<std::string>{"n3"});
  auto two = request({2, 3});
  two.relative = 1;
  EXPECT_EQ(place(hosts({5, 1, 1}), two).error().message,
            "More processors requested than permitted");
  two.relative = 2;
  const auto beyond = place(hosts({5, 1, 1}), two);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().message,
            "--relative and --nodes option incompatible with count of allocated nodes (2+2>3)");
  EXPECT_NE(beyond.error().kind, ErrorKind::refused); // the whole line
  auto rest = request({3, 2});
  rest.nodes_implied = true; // the job's own number of hosts
  rest.relative = 1;
  EXPECT_EQ(names(*place(hosts({1, 1, 1}), rest)), (std::vector<std::string>{"n2", "n3"}));
}

TEST(Place, hosts_with_more_room_are_taken_when_the_first_are_too_small) {
  EXPECT_EQ(names(*place(hosts({1, 2, 4}), request({1, 3}))), std::vector<std::string>{"n3"});
  EXPECT_EQ(names(*place(hosts({1, 2, 4}), request({2, 6}))),
            (std::vector<std::string>{"n2", "n3"}));
}

TEST(Place, warnings_come_with_a_refusal_too) {
  const auto refused = place(hosts({2, 2}), request({1, 4, 2}));
  ASSERT_FALSE(refused);
  ASSERT_EQ(refused.warnings.size(), 1U);
  EXPECT_TRUE(refused.warnings[0].starts_with("Warning: can't honor --ntasks-per-node"));
}

std::string
beside(const std::vector<int>& slots, const std::vector<int>& busy, const StepRequest& wanted) {
  auto job = hosts(slots);
  for (std::size_t i = 0; i < busy.size(); ++i)
    job.nodes[i].busy = busy[i];
  std::vector<std::string> warnings;
  const auto placed = place_beside(job, wanted, warnings);
  if (!placed) return placed.error().message;
  return *placed ? order(**placed) : "later";
}

TEST(PlaceBeside, steps_share_hosts_up_to_their_slots) {
  EXPECT_EQ(beside({2, 2}, {1, 0}, request({1, 1})), "1:0");
  EXPECT_EQ(beside({2, 2}, {2, 0}, request({1, 1})), "2:0"); // a full host is passed over
  EXPECT_EQ(beside({2, 4}, {1, 1}, request({1, 3})), "2:0 2:1 2:2");
  EXPECT_EQ(beside({2, 2}, {2, 2}, request({1, 1})), "later");
  EXPECT_EQ(beside({3, 1}, {1, 1}, request({2, 2})), "later");
  EXPECT_EQ(beside({2, 2}, {1, 1}, request({2, 4})), "later");
  EXPECT_EQ(beside({2, 2}, {1, 1}, request({2, 5})), "More processors requested than permitted");
}

TEST(PlaceBeside, a_named_host_is_waited_for) {
  auto named = request({1, 1});
  named.nodelist = {"n1"};
  EXPECT_EQ(beside({2, 2}, {2, 0}, named), "later");
  EXPECT_EQ(beside({2, 2}, {1, 0}, named), "1:0");
  EXPECT_EQ(beside({2, 2}, {2, 0}, listed({"n1", "n2"})), "later");
}

TEST(PlaceBeside, a_tight_moment_does_not_take_the_jobs_cpus_per_task_away) {
  auto job = hosts({4});
  job.cpus_per_task = 2;
  job.nodes[0].busy = 3;
  std::vector<std::string> warnings;
  const auto placed = place_beside(job, request({1, 1}), warnings);
  ASSERT_TRUE(placed);
  EXPECT_FALSE(*placed);
}

TEST(Place, an_empty_allocation_is_refused) {
  EXPECT_FALSE(place(Allocation{}, request({0, 1})));
}

} // namespace
} // namespace shim::plan
