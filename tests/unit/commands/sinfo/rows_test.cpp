#include "rows.h"

#include <gtest/gtest.h>

namespace shim::commands::sinfo {
namespace {

using slurm::NodeState;

cluster::Cluster two_kinds() {
  cluster::Cluster cluster;
  for (int i = 0; i < 3; ++i) {
    cluster::Node node;
    node.name = "n" + std::to_string(i + 1);
    node.memory_mib = i == 2 ? 32000U : 16000U;
    cluster.nodes.push_back(node);
  }
  const cluster::View idle{NodeState::idle, true, 0, 4};
  const cluster::View mixed{NodeState::mixed, true, 1, 8};
  cluster::Partition first;
  first.name = "first";
  first.is_default = true;
  first.nodes = {{0, idle}, {1, idle}, {2, mixed}};
  cluster::Partition second;
  second.name = "second";
  second.nodes = {{2, mixed}};
  cluster.partitions = {first, second};
  return cluster;
}

std::string
shown(const std::string& text, const Filter& filter = {}, const std::string& sort = "#P,-t") {
  const auto cluster = two_kinds();
  const auto format = parse_format(text);
  auto rows = make_rows(cluster, format, filter);
  sort_rows(rows, sort);
  std::string out;
  for (const auto& row : rows)
    out += row_line(format, row);
  return out;
}

TEST(SinfoRows, group_nodes_that_look_alike_in_the_columns) {
  EXPECT_EQ(shown("%P %t %D %N"), "first* mix 1 n3\nfirst* idle 2 n[1-2]\nsecond mix 1 n3\n");
  EXPECT_EQ(shown("%P %C"), "first* 1/15/0/16\nsecond 1/7/0/8\n");
}

TEST(SinfoRows, without_a_partition_in_the_line_a_node_counts_once) {
  EXPECT_EQ(shown("%F/%C"), "1/2/0/3/1/15/0/16\n");
}

TEST(SinfoRows, different_sizes_are_told_by_a_plus_or_apart) {
  EXPECT_EQ(shown("%P %c %m"), "first* 4+ 16000+\nsecond 8 32000\n");
  Filter exact;
  exact.exact = true;
  EXPECT_EQ(shown("%R %c %m", exact), "first 8 32000\nfirst 4 16000\nsecond 8 32000\n");
}

TEST(SinfoRows, each_node_is_a_line_for_each_partition) {
  Filter each;
  each.each_node = true;
  EXPECT_EQ(shown("%N %R", each, "N,#P"), "n1 first\nn2 first\nn3 first\nn3 second\n");
}

TEST(SinfoRows, a_partition_without_such_nodes_says_so) {
  Filter filter;
  filter.by_state = true;
  filter.states = {"idle"};
  EXPECT_EQ(shown("%P %t %N", filter), "first* idle n[1-2]\nsecond n/a \n");
}

TEST(SinfoRows, long_names_have_twenty_columns_unless_told) {
  const auto format = parse_long_format("Partition:8,NodeList:.6,StateLong:5");
  EXPECT_TRUE(format.errors.empty());
  EXPECT_EQ(header_line(format), "PARTITIONODELISTSTATE\n");
  EXPECT_EQ(parse_long_format("bogus").errors.front(), "Invalid job format specification: bogus");
  EXPECT_EQ(header_line(parse_long_format("StateLong")), "STATE               \n");
}

TEST(SinfoRows, json_has_states_as_lists) {
  const auto cluster = two_kinds();
  const auto rows = make_rows(cluster, parse_format("%P %t"), {});
  const auto text = to_json(rows, "24.05.0", "c");
  EXPECT_NE(text.find("\"MIXED\""), std::string::npos);
  EXPECT_NE(text.find("\"sinfo\": ["), std::string::npos);
}

} // namespace
} // namespace shim::commands::sinfo
