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
  EXPECT_EQ(header_line(parse_long_format("Priority:4")), "PRIO\n");
  EXPECT_EQ(header_line(parse_format("%all")), header_line(parse_long_format("all")));
  EXPECT_EQ(parse_long_format("bogus").errors.front(), "Invalid job format specification: bogus");
  EXPECT_EQ(header_line(parse_long_format("StateLong")), "STATE               \n");
}

TEST(SinfoRows, a_layout_makes_room_for_the_longest_name) {
  auto cluster = two_kinds();
  cluster.partitions[0].name = "interactive";
  for (const auto* text : {"%#P|%D", "%.#P|%D"}) {
    auto format = parse_layout(text);
    const auto rows = make_rows(cluster, format, {});
    fit(format, rows);
    const std::string blanks(3, ' ');
    EXPECT_EQ(header_line(format),
              text[1] == '#' ? "PARTITION" + blanks + "|NODES\n" : blanks + "PARTITION|NODES\n");
    EXPECT_EQ(row_line(format, rows[0]), "interactive*|3\n");
  }
  auto format = parse_layout("%#P");
  fit(format, {});
  EXPECT_EQ(header_line(format), "PARTITION\n");
  EXPECT_FALSE(parse_format("%#P").errors.empty()); // no width of a user's
}

TEST(SinfoRows, sorts_numbers_as_numbers_and_no_limit_last) {
  auto cluster = two_kinds();
  cluster.nodes[0].memory_mib = 9000;
  cluster.partitions[1].max_time_min = 600;
  const auto order = [&](const std::string& keys) {
    const auto format = parse_format("%N %R");
    Filter each;
    each.each_node = true;
    auto rows = make_rows(cluster, format, each);
    sort_rows(rows, keys);
    std::string out;
    for (const auto& row : rows)
      out += row_line(format, row);
    return out;
  };
  EXPECT_EQ(order("m"), "n1 first\nn2 first\nn3 first\nn3 second\n");
  EXPECT_EQ(order("l,-m"), "n3 second\nn3 first\nn2 first\nn1 first\n");
}

TEST(SinfoRows, states_joined_by_an_ampersand_all_have_to_hold) {
  Filter filter;
  filter.by_state = true;
  filter.states = {"mixed&idle", "idle&all"};
  EXPECT_EQ(shown("%P %t %N", filter), "first* idle n[1-2]\nsecond n/a \n");
  for (const auto* word : {"futr", "npc", "reboot_issued", "reboot_requested"})
    EXPECT_EQ(cluster::state_matches(word, {}), std::optional(false)) << word;
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
