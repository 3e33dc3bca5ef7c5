#include "ports_networks.h"
#include "ports_options.h"
#include "ports_rules.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace shim::commands::admin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(PortsNetworks, the_fewest_networks_that_cover_just_what_was_given) {
  struct Row {
    std::vector<std::string> given, wanted;
  };
  const Row rows[] = {
      {{"10.1.0.11", "10.1.0.12", "10.1.0.13"}, {"10.1.0.11", "10.1.0.12/31"}},
      {{"10.1.0.3", "10.1.0.0", "10.1.0.2", "10.1.0.1"}, {"10.1.0.0/30"}},
      {{"10.1.0.1", "10.1.0.2"}, {"10.1.0.1", "10.1.0.2"}}, // no common block
      {{"10.1.2.3", "10.1.0.0/16", "10.1.2.3"}, {"10.1.0.0/16"}},
      {{"10.1.2.3/16"}, {"10.1.0.0/16"}}, // host bits are cut
      {{"0.0.0.0/1", "128.0.0.0/1"}, {"0.0.0.0/0"}},
      {{"10.0.0.0/8", "0.0.0.0/0"}, {"0.0.0.0/0"}},
      {{"255.255.255.255", "255.255.255.254"}, {"255.255.255.254/31"}},
      {{}, {}},
  };
  for (const auto& row : rows) {
    const auto sources = aggregate(row.given);
    ASSERT_TRUE(sources) << testing::PrintToString(row.given);
    EXPECT_EQ(sources->ipv4, row.wanted) << testing::PrintToString(row.given);
    EXPECT_THAT(sources->ipv6, IsEmpty());
  }
}

TEST(PortsNetworks, families_are_kept_apart) {
  const auto sources = aggregate({"fd00::1", "10.1.0.1", "fd00::", "fd01::/16"}).value();
  EXPECT_THAT(sources.ipv4, ElementsAre("10.1.0.1"));
  EXPECT_THAT(sources.ipv6, ElementsAre("fd00::/127", "fd01::/16"));
}

TEST(PortsNetworks, many_scattered_hosts_stay_a_list) {
  std::vector<std::string> hosts;
  for (int i = 0; i < 20; i += 2)
    hosts.push_back("10.1." + std::to_string(i) + ".1");
  hosts.push_back("10.1.0.0"); // would pair with 10.1.0.1
  const auto sources = aggregate(hosts).value();
  EXPECT_EQ(sources.ipv4.size(), 11U);
  EXPECT_EQ(sources.ipv4.front(), "10.1.0.0");
}

TEST(PortsNetworks, what_is_neither_is_named) {
  for (const auto* bad : {"n1", "10.1.0.0/33", "10.1.0", "10.1.0.0/", "/8", ""}) {
    EXPECT_FALSE(is_address_or_network(bad)) << bad;
    EXPECT_EQ(aggregate({bad}).error().message,
              "\"" + std::string(bad) + "\" is no address and no network");
  }
}

TEST(PortsOptions, bad_words_are_named) {
  const auto refusal = [](std::vector<std::string> words) {
    const auto options = parse_ports_options(words);
    return options ? std::string("accepted") : options.error().message;
  };
  for (const auto* bad : {"61439-61000", "0-70000", "abc", "0", "1-2-3"})
    EXPECT_EQ(refusal({std::string("--range=") + bad}),
              "--range: \"" + std::string(bad) + "\" is no port range such as 61000-61439");
  EXPECT_THAT(refusal({"--format", "pf"}), HasSubstr("\"pf\" is none of text, firewalld"));
  EXPECT_EQ(refusal({"--zone", "a b"}), "--zone: \"a b\" is no name");
  EXPECT_EQ(refusal({"--network", "x;reboot"}), "--network: \"x;reboot\" is no name");
  EXPECT_EQ(refusal({"--source", "10.0.0.0/8,,n1"}), "--source: bad entry in \"10.0.0.0/8,,n1\"");
  EXPECT_EQ(refusal({"--range", "2000-2010", "--source=n1,n2", "--source", "n3"}), "accepted");
}

PortsFacts some_facts() {
  PortsFacts facts;
  facts.control = {61000, 61439};
  facts.qmaster_port = "6444";
  facts.execd_port = "6445";
  facts.sources = {{"10.1.0.11", "10.1.0.12/31"}, {}};
  facts.network = "default";
  facts.zone = "public";
  return facts;
}

TEST(PortsRules, nftables_is_a_table_of_its_own) {
  EXPECT_EQ(ports_text(some_facts(), "nftables"),
            "table inet slurm_shim\n"
            "delete table inet slurm_shim\n"
            "table inet slurm_shim {\n"
            "  set exec_hosts {\n"
            "    type ipv4_addr\n"
            "    flags interval\n"
            "    elements = { 10.1.0.11, 10.1.0.12/31 }\n"
            "  }\n"
            "  chain input {\n"
            "    type filter hook input priority -10; policy accept;\n"
            "    iifname \"lo\" accept\n"
            "    tcp dport 61000-61439 ip saddr @exec_hosts accept\n"
            "    tcp dport 61000-61439 drop\n"
            "  }\n"
            "}\n");
}

TEST(PortsRules, firewalld_names_a_service_and_each_source) {
  EXPECT_EQ(ports_text(some_facts(), "firewalld"),
            "firewall-cmd --permanent --new-service=slurm-shim\n"
            "firewall-cmd --permanent --service=slurm-shim --add-port=61000-61439/tcp\n"
            "firewall-cmd --permanent --zone=public --add-rich-rule='rule family=\"ipv4\" source "
            "address=\"10.1.0.11\" service name=\"slurm-shim\" accept'\n"
            "firewall-cmd --permanent --zone=public --add-rich-rule='rule family=\"ipv4\" source "
            "address=\"10.1.0.12/31\" service name=\"slurm-shim\" accept'\n"
            "firewall-cmd --reload\n");
}

TEST(PortsRules, both_families_and_qrsh_are_in_every_format) {
  auto facts = some_facts();
  facts.qrsh = config::PortRange{40000, 40099};
  facts.sources.ipv6 = {"fd00::/64"};
  EXPECT_THAT(ports_text(facts, "nftables"),
              HasSubstr("tcp dport { 61000-61439, 40000-40099 } ip6 saddr @exec_hosts6 accept\n"));
  EXPECT_EQ(ports_text(facts, "gcp"),
            "gcloud compute firewall-rules create slurm-shim-control --network=default "
            "--direction=INGRESS --action=ALLOW --rules=tcp:61000-61439,tcp:40000-40099 "
            "--source-ranges=10.1.0.11,10.1.0.12/31 --target-tags=slurm-shim\n"
            "gcloud compute firewall-rules create slurm-shim-control-ipv6 --network=default "
            "--direction=INGRESS --action=ALLOW --rules=tcp:61000-61439,tcp:40000-40099 "
            "--source-ranges=fd00::/64 --target-tags=slurm-shim\n");
  EXPECT_THAT(ports_text(facts, "iptables"),
              HasSubstr("ip6tables -A INPUT -s fd00::/64 -p tcp -m multiport --dports "
                        "61000:61439,40000:40099 -j ACCEPT\n"));
  EXPECT_THAT(ports_text(facts, "firewalld"), HasSubstr("--add-port=40000-40099/tcp\n"));
}

TEST(PortsRules, json_holds_the_facts_and_the_rules) {
  auto facts = some_facts();
  const auto json = nlohmann::json::parse(ports_text(facts, "json"));
  EXPECT_EQ(json["control"], (nlohmann::json{{"from", 61000}, {"to", 61439}, {"proto", "tcp"}}));
  EXPECT_TRUE(json["qrsh"].is_null());
  EXPECT_EQ(json["sources"], (nlohmann::json{"10.1.0.11", "10.1.0.12/31"}));
  EXPECT_EQ(json["rules"]["nftables"], ports_text(facts, "nftables"));
  EXPECT_EQ(json["rules"]["firewalld"].size(), 5U);
}

TEST(PortsRules, an_example_says_that_it_is_one) {
  auto facts = some_facts();
  EXPECT_THAT(ports_text(facts, "text"), Not(HasSubstr("PLACEHOLDER")));
  facts.placeholder = true;
  for (const auto* format : {"text", "firewalld", "gcp", "nftables", "iptables"})
    EXPECT_THAT(ports_text(facts, format), HasSubstr("PLACEHOLDER")) << format;
}

} // namespace
} // namespace shim::commands::admin
