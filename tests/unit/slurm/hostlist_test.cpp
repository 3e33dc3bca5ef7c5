#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/hostlist.h"

#include <gtest/gtest.h>

#include "support/case_file.h"

namespace shim::slurm {

namespace {

using Names = std::vector<std::string>;

TEST(Hostlist, expands_as_the_cases_say) {
  for (const auto& c : test::cases_of("hostlist_expand")) {
    const auto in = c.at("in").get<std::string>();
    // Several bracket groups are supported here.
    if (in == "n[1-2]x[3]" || in == "n[1-2][3-4]") continue;
    const auto hosts = expand_hostlist(in);
    if (c.contains("error")) {
      ASSERT_FALSE(hosts) << in;
      EXPECT_EQ(hosts.error().message, c.at("error").get<std::string>()) << in;
    } else {
      ASSERT_TRUE(hosts) << in;
      EXPECT_EQ(*hosts, c.at("out").get<Names>()) << in;
    }
  }
}

TEST(Hostlist, compresses_and_sorts_as_the_cases_say) {
  for (const auto& c : test::cases_of("hostlist_compress"))
    EXPECT_EQ(compress_hostlist(c.at("in").get<Names>()), c.at("out").get<std::string>());
  for (const auto& c : test::cases_of("hostlist_sort")) {
    auto hosts = c.at("in").get<Names>();
    sort_hosts(hosts);
    EXPECT_EQ(hosts, c.at("out").get<Names>());
  }
}

TEST(Hostlist, expands_several_groups) {
  EXPECT_EQ(*expand_hostlist("n[1-2]x[3]"), (Names{"n1x3", "n2x3"}));
  EXPECT_EQ(*expand_hostlist("n[1-2][3-4]"), (Names{"n13", "n14", "n23", "n24"}));
  EXPECT_EQ(*expand_hostlist("r[1-2]n[01-02]-ib,x"),
            (Names{"r1n01-ib", "r1n02-ib", "r2n01-ib", "r2n02-ib", "x"}));
}

TEST(Hostlist, refuses_more_than_65536_hosts_before_making_them) {
  EXPECT_EQ(expand_hostlist("n[1-65536]")->size(), k_max_hosts);
  for (const auto* text : {"n[0-9999999999]",
                           "n[1-65537]",
                           "n[1-256]m[1-257]",
                           "n[1-65536],x",
                           "n[0-18446744073709551615]",
                           "a[1-999]b[1-999]c[1-999]d[1-999]e[1-999]"}) {
    const auto hosts = expand_hostlist(text);
    ASSERT_FALSE(hosts) << text;
    EXPECT_EQ(hosts.error().message, "invalid hostlist: too many hosts") << text;
  }
  EXPECT_EQ(expand_hostlist("n[1-99999999999999999999]").error().message,
            "invalid hostlist: too large a number in range 1-99999999999999999999");
  EXPECT_EQ(*expand_hostlist("n[99999999999999999999]"), (Names{"n99999999999999999999"}));
  EXPECT_EQ(expand_hostlist("n[1[2]]").error().message,
            "invalid hostlist: malformed brackets in n[1[2]]");
}

TEST(Hostlist, sorts_a_mixed_set_in_one_order) {
  Names hosts{"b", "a02", "a1", "a10", "a2", "a1-ib", "a99999999999999999999", "a3"};
  sort_hosts(hosts);
  EXPECT_EQ(hosts, (Names{"a1", "a2", "a02", "a3", "a10", "a99999999999999999999", "a1-ib", "b"}));
}

// The argument of `scontrol show <what> '<list>'`; nothing for other command shapes.
std::optional<std::string> argument(const std::string& command, const std::string& what) {
  const auto head = "scontrol show " + what + " ";
  if (!command.starts_with(head)) return std::nullopt;
  auto text = command.substr(head.size());
  if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'')
    text = text.substr(1, text.size() - 2);
  return text;
}

struct Outcome {
  std::string out, err;
};

Outcome outcome(const std::string& list, const Result<std::string>& text) {
  if (text) return {*text, ""};
  const auto& line = text.error().message;
  return {"",
          (line.empty() ? "" : "scontrol: error: " + line + "\n") + "Invalid hostlist: " + list +
              "\n"};
}

Result<std::string> lines_of(const std::string& list) {
  return slurm_expand_hostlist(list).map(
      [](const Names& hosts) { return hosts.empty() ? "" : join(hosts, "\n") + "\n"; });
}

Result<std::string> line_of(const Result<std::string>& text) {
  return text.map([](const std::string& line) { return line + "\n"; });
}

TEST(SlurmHostlist, prints_what_scontrol_prints) {
  const auto topic = test::load_json("vectors/02_hostlist.json");
  int compared = 0;
  for (const auto& c : topic.at("cases")) {
    const auto id = c.at("id").get<std::string>();
    if (id.starts_with("hl.x.") || !c.at("stdout").is_string()) continue;
    const auto command = c.at("cmd").get<std::string>();
    Outcome got;
    if (const auto text = argument(command, "hostnames"))
      got = outcome(*text, lines_of(*text));
    else if (const auto text2 = argument(command, "hostlist"))
      got = outcome(*text2, line_of(slurm_compress_hostlist(*text2)));
    else if (const auto text3 = argument(command, "hostlistsorted"))
      got = outcome(*text3, line_of(slurm_sorted_hostlist(*text3)));
    else
      continue;
    EXPECT_EQ(got.out, c.at("stdout").get<std::string>()) << command;
    EXPECT_EQ(got.err, c.at("stderr").get<std::string>()) << command;
    ++compared;
  }
  EXPECT_GT(compared, 350);
}

TEST(SlurmHostlist, bounds_the_whole_list) {
  EXPECT_EQ(slurm_expand_hostlist("n[1-65536]")->size(), k_max_hosts);
  EXPECT_EQ(slurm_expand_hostlist("n[1-65536],m").error().message, "Too many hosts in list");
  EXPECT_EQ(*slurm_expand_hostlist("n[1-]"), (Names{"n1"}));
}

} // namespace

} // namespace shim::slurm
