#include "slurm_shim/slurm/rle.h"

#include <gtest/gtest.h>

#include "support/case_file.h"

namespace shim::slurm {

namespace {

TEST(Rle, compresses_and_expands_as_the_cases_say) {
  for (const auto& c : test::cases_of("rle_compress"))
    EXPECT_EQ(compress_counts(c.at("in").get<std::vector<int>>()), c.at("out").get<std::string>());
  for (const auto& c : test::cases_of("rle_expand")) {
    if (c.contains("port")) continue; // signs: next test
    const auto in = c.at("in").get<std::string>();
    const auto counts = expand_counts(in);
    if (c.contains("error")) {
      ASSERT_FALSE(counts) << in;
      EXPECT_EQ(counts.error().message, c.at("error").get<std::string>());
    } else {
      ASSERT_TRUE(counts) << in;
      EXPECT_EQ(*counts, c.at("out").get<std::vector<int>>()) << in;
    }
  }
}

TEST(Rle, refuses_signs_and_more_than_65536_hosts) {
  EXPECT_EQ(expand_counts("-1").error().message, "invalid hostlist: bad count -1");
  EXPECT_EQ(expand_counts("+3").error().message, "invalid hostlist: bad count +3");
  EXPECT_EQ(expand_counts("8(x65536)")->size(), 65536U);
  EXPECT_EQ(expand_counts("8(x65537)").error().message, "invalid hostlist: too many hosts");
  EXPECT_EQ(expand_counts("8(x65536),1").error().message, "invalid hostlist: too many hosts");
  EXPECT_EQ(expand_counts("8(x99999999999999999999)").error().message,
            "invalid hostlist: bad repeat 8(x99999999999999999999)");
  EXPECT_EQ(expand_counts("8(x+2)").error().message, "invalid hostlist: bad repeat 8(x+2)");
}

} // namespace

} // namespace shim::slurm
