#include "slurm_shim/cluster/cluster.h"

#include <gtest/gtest.h>

namespace shim::cluster {
namespace {

using slurm::NodeState;

ge::ExecHost host(const std::string& name, std::vector<ge::QueueInstance> queues, int free = -1) {
  ge::ExecHost host;
  host.name = name;
  host.queues = std::move(queues);
  if (free >= 0) host.resources.push_back({"slots", "hc", std::to_string(free) + ".000000"});
  return host;
}

ge::QueueInstance
instance(const std::string& queue, int used, int total, const std::string& state = "") {
  return {
      .queue = queue, .type = "BIP", .used = used, .total = total, .reserved = 0, .state = state};
}

config::Config two_partitions() {
  config::Config config;
  config::Partition batch;
  batch.name = "batch";
  batch.queue = "batch.q";
  batch.is_default = true;
  config::Partition gpu;
  gpu.name = "gpu";
  gpu.queue = "gpu.q";
  gpu.max_time_min = 60;
  config.partitions = {batch, gpu};
  return config;
}

View view(const Cluster& cluster, const std::string& partition, std::size_t node) {
  const auto* found = cluster.find_partition(partition);
  EXPECT_NE(found, nullptr);
  for (const auto& [index, view] : found->nodes)
    if (index == node) return view;
  ADD_FAILURE() << partition << " has no node " << node;
  return {};
}

TEST(Assemble, a_host_that_bounds_its_slots_is_as_full_as_all_its_queues_make_it) {
  const auto cluster =
      assemble(two_partitions(),
               {.hosts = {host("n1", {instance("batch.q", 4, 4), instance("gpu.q", 0, 4)}, 0)},
                .global = {}});
  EXPECT_EQ(short_state(view(cluster, "gpu", 0)), "alloc");
  EXPECT_EQ(view(cluster, "gpu", 0).total, 4);
  EXPECT_EQ(cluster.nodes[0].view.total, 4);
}

TEST(Assemble, without_a_bound_each_partition_counts_its_own_slots) {
  const auto cluster = assemble(
      two_partitions(),
      {.hosts = {host("n1", {instance("batch.q", 1, 4), instance("gpu.q", 0, 2)})}, .global = {}});
  EXPECT_EQ(short_state(view(cluster, "batch", 0)), "mix");
  EXPECT_EQ(short_state(view(cluster, "gpu", 0)), "idle");
  EXPECT_EQ(cluster.nodes[0].view.total, 4);
  EXPECT_EQ(cluster.nodes[0].partitions, (std::vector<std::string>{"batch", "gpu"}));
}

TEST(Assemble, tells_a_drained_host_from_a_partition_that_is_down) {
  const auto drained = assemble(
      two_partitions(),
      {.hosts = {host("n1", {instance("batch.q", 0, 4, "d"), instance("gpu.q", 0, 4, "d")}),
                 host("n2", {instance("batch.q", 2, 4), instance("gpu.q", 0, 4)})},
       .global = {}});
  EXPECT_EQ(short_state(view(drained, "batch", 0)), "drain");
  EXPECT_TRUE(drained.find_partition("batch")->up);
  EXPECT_EQ(drained.nodes[0].reason, "queue disabled");
  const auto down =
      assemble(two_partitions(),
               {.hosts = {host("n1", {instance("batch.q", 0, 4, "d"), instance("gpu.q", 0, 4)}),
                          host("n2", {instance("batch.q", 2, 4, "d"), instance("gpu.q", 0, 4)})},
                .global = {}});
  EXPECT_FALSE(down.find_partition("batch")->up);
  EXPECT_EQ(short_state(view(down, "batch", 0)), "idle");
  EXPECT_EQ(short_state(view(down, "batch", 1)), "mix");
  EXPECT_TRUE(down.find_partition("gpu")->up);
}

TEST(Assemble, a_queue_whose_hosts_are_all_drained_is_not_down) {
  const auto cluster = assemble(
      two_partitions(),
      {.hosts = {host("n1", {instance("batch.q", 0, 4, "d"), instance("gpu.q", 0, 4, "d")}),
                 host("n2", {instance("batch.q", 0, 4)})},
       .global = {}});
  EXPECT_TRUE(cluster.find_partition("gpu")->up);
  EXPECT_EQ(short_state(view(cluster, "gpu", 0)), "drain");
}

TEST(Assemble, hosts_that_do_not_answer_are_marked) {
  const auto cluster = assemble(two_partitions(),
                                {.hosts = {host("n1", {instance("batch.q", 0, 4, "au")}),
                                           host("n2", {instance("batch.q", 0, 4, "adu")}),
                                           host("n3", {instance("batch.q", 0, 4, "E")}),
                                           host("n4", {instance("batch.q", 0, 4, "a")})},
                                 .global = {}});
  EXPECT_EQ(short_state(view(cluster, "batch", 0)), "down*");
  EXPECT_EQ(long_state(view(cluster, "batch", 1)), "drained*");
  EXPECT_EQ(short_state(view(cluster, "batch", 2)), "down");
  EXPECT_EQ(short_state(view(cluster, "batch", 3)), "idle");
  EXPECT_EQ(cluster.nodes[0].reason, "Not responding");
}

TEST(Assemble, queues_that_no_partition_names_are_partitions_too) {
  const auto cluster = assemble(two_partitions(),
                                {.hosts = {host("n1", {instance("extra.q", 0, 4)})}, .global = {}});
  ASSERT_EQ(cluster.partitions.size(), 3U);
  EXPECT_EQ(cluster.partitions[2].name, "extra.q");
  EXPECT_TRUE(cluster.partitions[0].nodes.empty());
}

TEST(Assemble, nodes_come_in_natural_order_and_are_found_by_short_names) {
  const auto cluster =
      assemble({}, {.hosts = {host("n10.dom", {}), host("n9.dom", {})}, .global = {}});
  EXPECT_EQ(cluster.nodes[0].name, "n9.dom");
  ASSERT_NE(cluster.find_node("n10"), nullptr);
  EXPECT_EQ(cluster.find_node("n10")->name, "n10.dom");
  EXPECT_EQ(cluster.find_node("n1"), nullptr);
  EXPECT_EQ(cluster.nodes[0].view.state, NodeState::down);
}

TEST(StateWords, are_taken_as_slurm_takes_them) {
  const View mixed{NodeState::mixed, true, 1, 4};
  const View drained{NodeState::drained, false, 0, 4};
  EXPECT_EQ(state_matches("alloc", mixed), true);
  EXPECT_EQ(state_matches("idle", mixed), false);
  EXPECT_EQ(state_matches("d", {NodeState::down, true, 0, 0}), true);
  EXPECT_EQ(state_matches("drain", drained), true);
  EXPECT_EQ(state_matches("drng", drained), false);
  EXPECT_EQ(state_matches("no_respond", drained), true);
  EXPECT_EQ(state_matches("bogus", mixed), std::nullopt);
}

} // namespace
} // namespace shim::cluster
