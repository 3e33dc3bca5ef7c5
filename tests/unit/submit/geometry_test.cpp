#include "slurm_shim/submit/geometry.h"

#include <gtest/gtest.h>

namespace shim::submit {
namespace {

using Kind = Rule::Kind;

Shape shape(int nodes, int ntasks, int per_node, int cpus = 1) {
  Shape s;
  s.nodes = nodes;
  s.ntasks = ntasks;
  s.tasks_per_node = per_node;
  s.cpus_per_task = cpus;
  s.scoped_rules = true;
  return s;
}

struct Case {
  const char* name;
  Shape shape;
  long long slots;
  Rule rule;
  int nodes;
  int ntasks;
  std::vector<int> tasks;
};

TEST(PlanGeometry, follows_the_table_of_layouts) {
  const Case cases[] = {
      {"nothing", shape(0, 0, 0), 1, {Kind::pe_slots, 0, 0}, 1, 1, {1}},
      {"-c4", shape(0, 0, 0, 4), 4, {Kind::pe_slots, 0, 0}, 1, 1, {1}},
      {"-n8", shape(0, 8, 0), 8, {Kind::fill_up, 0, 0}, 0, 8, {}},
      {"-N1 -n5 -c2", shape(1, 5, 0, 2), 10, {Kind::pe_slots, 0, 0}, 1, 5, {5}},
      {"P only", shape(0, 0, 9), 9, {Kind::pe_slots, 0, 0}, 1, 9, {9}},
      {"-N2 P4 -c2", shape(2, 0, 4, 2), 16, {Kind::fixed, 8, 0}, 2, 8, {4, 4}},
      {"-N4", shape(4, 0, 0), 4, {Kind::fixed, 1, 0}, 4, 4, {1, 1, 1, 1}},
      {"-N2 -n3", shape(2, 3, 0), 3, {Kind::scoped, 1, 2}, 2, 3, {2, 1}},
      {"-N3 -n5", shape(3, 5, 0), 5, {Kind::scoped, 2, 1}, 3, 5, {1, 2, 2}},
      {"-N4 -n6", shape(4, 6, 0), 8, {Kind::fixed, 2, 0}, 4, 6, {2, 2, 1, 1}},
      {"-N4 -n2", shape(4, 2, 0), 2, {Kind::fixed, 1, 0}, 2, 2, {1, 1}},
      {"-n7 P2", shape(0, 7, 2), 7, {Kind::scoped, 2, 1}, 4, 7, {1, 2, 2, 2}},
  };
  for (const auto& c : cases) {
    const auto g = plan_geometry(c.shape);
    ASSERT_TRUE(g.has_value()) << c.name;
    EXPECT_EQ(g->slots, c.slots) << c.name;
    EXPECT_EQ(g->rule, c.rule) << c.name;
    EXPECT_EQ(g->nodes, c.nodes) << c.name;
    EXPECT_EQ(g->ntasks, c.ntasks) << c.name;
    EXPECT_EQ(g->tasks_per_node, c.tasks) << c.name;
  }
}

TEST(PlanGeometry, rounds_up_where_the_engine_has_no_scopes) {
  auto s = shape(2, 3, 0);
  s.scoped_rules = false;
  const auto g = plan_geometry(s);
  ASSERT_TRUE(g.has_value());
  EXPECT_EQ(g->slots, 4);
  EXPECT_EQ(g->rule, (Rule{Kind::fixed, 2, 0}));
  EXPECT_EQ(g->ntasks, 3);
  EXPECT_EQ(g->layout, "ceil");
  ASSERT_EQ(g->warnings.size(), 1u);
  EXPECT_EQ(g->warnings[0],
            "3 tasks do not divide evenly over 2 nodes: 1 slots are allocated more than needed");
}

TEST(PlanGeometry, keeps_a_tasks_cpus_together_where_the_hosts_size_is_known) {
  auto s = shape(0, 6, 0, 3);
  s.slots_per_node = 8;
  auto g = plan_geometry(s);
  ASSERT_TRUE(g.has_value());
  EXPECT_EQ(g->slots, 18);
  EXPECT_EQ(g->rule, (Rule{Kind::fixed, 6, 0}));
  EXPECT_EQ(g->nodes, 3);
  s.slots_per_node = 0;
  g = plan_geometry(s);
  ASSERT_TRUE(g.has_value());
  EXPECT_EQ(g->rule.kind, Kind::fill_up);
  EXPECT_EQ(g->warnings.size(), 1u);
}

TEST(PlanGeometry, warns_as_slurm_when_there_are_more_nodes_than_tasks) {
  const auto g = plan_geometry(shape(4, 2, 0));
  ASSERT_TRUE(g.has_value());
  EXPECT_EQ(g->slurm_warnings,
            (std::vector<std::string>{"can't run 2 processes on 4 nodes, setting nnodes to 2"}));
}

TEST(PlanGeometry, serves_partitions_of_whole_nodes_and_of_fixed_slots) {
  auto s = shape(2, 0, 3);
  s.slots_rule = "per-node:8";
  auto g = plan_geometry(s);
  ASSERT_TRUE(g.has_value());
  EXPECT_EQ(g->slots, 16);
  EXPECT_EQ(g->rule, (Rule{Kind::fixed, 8, 0}));
  EXPECT_EQ(g->tasks_per_node, (std::vector<int>{3, 3}));
  EXPECT_FALSE(plan_geometry([] {
                 auto wide = shape(1, 9, 0);
                 wide.slots_rule = "per-node:8";
                 return wide;
               }())
                   .has_value());
  s.slots_rule = "16";
  g = plan_geometry(s);
  ASSERT_TRUE(g.has_value());
  EXPECT_EQ(g->slots, 16);
  EXPECT_EQ(g->rule, (Rule{Kind::fixed, 8, 0}));
  s.slots_rule = "some";
  const auto bad = plan_geometry(s);
  ASSERT_FALSE(bad.has_value());
  EXPECT_NE(bad.error().message.find("\"some\""), std::string::npos);
}

TEST(PlanGeometry, refuses_more_tasks_than_the_nodes_may_have) {
  const auto g = plan_geometry(shape(2, 8, 2));
  ASSERT_FALSE(g.has_value());
  EXPECT_EQ(g.error().message,
            "sbatch: error: Batch job submission failed: Requested node configuration is not "
            "available");
}

TEST(PlanGeometry, takes_of_a_range_the_fewest_nodes_that_will_do) {
  const struct {
    int min, max, ntasks, per_node, slots_per_node, nodes;
  } cases[] = {
      {2, 4, 9, 0, 0, 2},
      {2, 4, 9, 0, 4, 3},
      {2, 4, 9, 3, 0, 3},
      {2, 8, 3, 1, 0, 3},
      {1, 8, 5, 0, 1, 5},
      {2, 4, 0, 2, 0, 2},
  };
  for (const auto& c : cases) {
    auto s = shape(c.min, c.ntasks, c.per_node);
    s.max_nodes = c.max;
    s.slots_per_node = c.slots_per_node;
    const auto g = plan_geometry(s);
    ASSERT_TRUE(g.has_value());
    EXPECT_EQ(g->nodes, c.nodes) << c.min << "-" << c.max << " -n" << c.ntasks;
    EXPECT_EQ(g->warnings.size(), 1u);
  }
}

TEST(PlanGeometry, whole_nodes_take_all_slots_where_their_number_is_known) {
  auto s = shape(2, 4, 0);
  s.whole_nodes = true;
  EXPECT_EQ(plan_geometry(s)->slots, 4);
  EXPECT_FALSE(plan_geometry(s)->whole_nodes);
  s.slots_per_node = 16;
  const auto g = plan_geometry(s);
  EXPECT_TRUE(g->whole_nodes);
  EXPECT_EQ(g->slots, 32);
  EXPECT_EQ(g->rule, (Rule{Kind::fixed, 16, 0}));
  EXPECT_EQ(g->tasks_per_node, (std::vector<int>{2, 2}));
}

TEST(PlanGeometry, overcommitted_hosts_have_room_for_one_task) {
  auto s = shape(2, 8, 0, 3);
  s.overcommit = true;
  auto g = plan_geometry(s);
  ASSERT_TRUE(g.has_value());
  EXPECT_EQ(g->slots, 6);
  EXPECT_EQ(g->rule, (Rule{Kind::fixed, 3, 0}));
  EXPECT_EQ(g->tasks_per_node, (std::vector<int>{4, 4}));
  s = shape(0, 100, 0);
  s.overcommit = true;
  s.slots_per_node = 8;
  g = plan_geometry(s);
  ASSERT_TRUE(g.has_value());
  EXPECT_EQ(g->slots, 1);
  EXPECT_EQ(g->nodes, 1);
  EXPECT_EQ(g->rule.kind, Kind::pe_slots);
  s.exclusive = true; // as many as without -O then
  EXPECT_EQ(plan_geometry(s)->slots, 100);
  s.whole_nodes = true; // or all of the hosts' slots
  g = plan_geometry(s);
  ASSERT_TRUE(g.has_value());
  EXPECT_EQ(g->slots, 8);
  EXPECT_EQ(g->nodes, 1);
}

TEST(PlanGeometry, gives_each_host_the_cpus_that_are_asked_for_at_least) {
  auto s = shape(0, 0, 0);
  s.least_slots = 4;
  EXPECT_EQ(plan_geometry(s)->slots, 4);
  s = shape(2, 3, 0);
  s.least_slots = 4;
  EXPECT_EQ(plan_geometry(s)->slots, 8);
  EXPECT_EQ(plan_geometry(s)->rule, (Rule{Kind::fixed, 4, 0}));
  s.least_slots = 1;
  EXPECT_EQ(plan_geometry(s)->slots, 3);
  s = shape(0, 3, 0);
  s.least_slots = 4;
  const auto open = plan_geometry(s);
  EXPECT_EQ(open->slots, 3);
  EXPECT_EQ(open->warnings.size(), 1u);
}

TEST(RoundUpToPes, takes_the_next_larger_rule_on_the_same_hosts) {
  config::PeByLayout family;
  family.fixed = {{2, "s-2"}, {4, "s-4"}, {16, "s-16"}};
  auto g = plan_geometry([] {
             auto s = shape(2, 0, 3);
             s.scoped_rules = false;
             return s;
           }())
               .value();
  round_up_to_pes(g, family, 8);
  EXPECT_EQ(g.slots, 8);
  EXPECT_EQ(g.rule, (Rule{Kind::fixed, 4, 0}));
  EXPECT_EQ(g.tasks_per_node, (std::vector<int>{3, 3}));
  EXPECT_EQ(g.warnings.size(), 1u);
  auto one = plan_geometry(shape(1, 4, 0)).value();
  round_up_to_pes(one, family, 8);
  EXPECT_EQ(one.rule, (Rule{Kind::fixed, 4, 0}))
      << "four slots on one host without a PE for one host";
  EXPECT_TRUE(one.warnings.empty());
  auto wide = plan_geometry(shape(2, 0, 6)).value();
  round_up_to_pes(wide, family, 8);
  EXPECT_EQ(wide.rule, (Rule{Kind::fixed, 6, 0})) << "hosts of 8 slots have no room for 16";
}

Geometry with(Rule rule, long long slots = 8) {
  Geometry g;
  g.rule = rule;
  g.slots = slots;
  return g;
}

TEST(PinLayout, uses_par_where_qsub_has_it) {
  auto p = pin_layout(with({Kind::fixed, 8, 0}), true, "batch", "slurm-shim", {});
  ASSERT_TRUE(p.has_value());
  EXPECT_EQ(p->par, "8");
  EXPECT_EQ(p->pe, "slurm-shim");
  p = pin_layout(with({Kind::scoped, 1, 2}), true, "batch", "slurm-shim", {});
  ASSERT_TRUE(p.has_value());
  EXPECT_EQ(p->par, "");
  EXPECT_EQ(p->master_par + "/" + p->slave_par, "2/1");
}

TEST(PinLayout, uses_a_pe_of_the_rule_otherwise) {
  config::PeByLayout family;
  family.pe_slots = "s-smp";
  family.fill_up = "s-fill";
  family.fixed[2] = "s-2";
  EXPECT_EQ(pin_layout(with({Kind::fixed, 2, 0}), false, "b", "s", family).value().pe, "s-2");
  EXPECT_EQ(pin_layout(with({Kind::pe_slots, 0, 0}), false, "b", "s", family).value().pe, "s-smp");
  EXPECT_EQ(pin_layout(with({Kind::fill_up, 0, 0}), false, "b", "s", family).value().pe, "s-fill");
}

TEST(PinLayout, never_takes_a_looser_layout) {
  const auto p = pin_layout(with({Kind::fixed, 6, 0}), false, "batch", "slurm-shim", {});
  ASSERT_FALSE(p.has_value());
  EXPECT_NE(p.error().message.find("allocation_rule 6"), std::string::npos);
  EXPECT_NE(p.error().message.find("slurm-shim-6"), std::string::npos);
  EXPECT_EQ(p.error().exit_code, 1);
  EXPECT_FALSE(pin_layout(with({Kind::pe_slots, 0, 0}), false, "b", "s", {}).has_value());
  EXPECT_EQ(pin_layout(with({Kind::pe_slots, 0, 0}, 1), false, "b", "s", {}).value().pe, "s")
      << "one slot lies well anywhere";
}

} // namespace
} // namespace shim::submit
