#include "slurm_shim/cli/admin_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shim::cli {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(AdminParser, lists_may_be_repeated_and_hold_commas) {
  std::vector<std::string> hosts;
  AdminParser parser("Looks at hosts.", "look");
  parser.list("--hosts", hosts, "names");
  ASSERT_TRUE(parser.parse({"--hosts", "a,b", "--hosts=c"}));
  EXPECT_THAT(hosts, ElementsAre("a", "b", "c"));
  EXPECT_TRUE(parser.given("--hosts"));
}

TEST(AdminParser, lists_have_no_empty_entries_and_no_options_in_them) {
  for (const auto* text : {"a,,b", ",", "a,", "a,-b"}) {
    std::vector<std::string> hosts;
    AdminParser parser("Looks at hosts.", "look");
    parser.list("--hosts", hosts, "names");
    const auto parsed = parser.parse({std::string("--hosts=") + text});
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::usage);
    EXPECT_EQ(parsed.error().message, "--hosts: bad entry in \"" + std::string(text) + "\"");
  }
}

TEST(AdminParser, help_tells_of_lists_as_of_other_options_that_may_be_repeated) {
  std::vector<std::string> hosts;
  std::vector<std::string> queues;
  AdminParser parser("Looks at hosts.", "look");
  parser.list("--hosts", hosts, "names");
  parser.option("--queue", queues, "a queue");
  const auto help = parser.parse({"--help"});
  ASSERT_TRUE(help && *help);
  EXPECT_THAT(**help, HasSubstr("--hosts TEXT ..."));
  EXPECT_THAT(**help, HasSubstr("--queue TEXT ..."));
  EXPECT_THAT(hosts, IsEmpty());
}

} // namespace

} // namespace shim::cli
