#include "slurm_shim/base/base64.h"
#include "slurm_shim/base/env_list.h"

#include <gtest/gtest.h>

namespace shim {
namespace {

using Entries = std::vector<std::string>;

TEST(EnvList, LastValueWinsAtTheFirstPlace) {
  const EnvList env(Entries{"A=1", "B=2", "A=3", "no-equals-sign"});
  EXPECT_EQ(env.entries(), (Entries{"A=3", "B=2"}));
}

TEST(EnvList, TellsEmptyFromUnset) {
  const EnvList env(Entries{"A="});
  EXPECT_EQ(env.get("A"), "");
  EXPECT_FALSE(env.get("AB"));
  EXPECT_EQ(env.get_or("A", "x"), "x");
}

TEST(EnvList, KeepsAnyBytesBehindTheFirstEqualsSign) {
  const EnvList env(Entries{"BASH_FUNC_f%%=() { a=b\n}", "X=\xFF=1"});
  EXPECT_EQ(env.get("BASH_FUNC_f%%"), "() { a=b\n}");
  EXPECT_EQ(env.get("X"), "\xFF=1");
}

TEST(EnvList, SetReplacesInPlaceAndUnsetRemoves) {
  EnvList env(Entries{"A=1", "B=2"});
  env.set("A", "9");
  env.set("C", "3");
  env.unset("B");
  EXPECT_EQ(env.entries(), (Entries{"A=9", "C=3"}));
  env.unset_if([](std::string_view name) { return name == "C"; });
  EXPECT_EQ(env.entries(), (Entries{"A=9"}));
}

TEST(EnvList, EnvpEndsWithNull) {
  EnvList env(Entries{"A=1"});
  const auto envp = env.envp();
  ASSERT_EQ(envp.size(), 2U);
  EXPECT_STREQ(envp[0], "A=1");
  EXPECT_EQ(envp[1], nullptr);
}

TEST(Base64, RoundTripsEveryLength) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(base64_decode(base64_encode(bytes)), bytes) << i;
    bytes += static_cast<char>(i * 7);
  }
  EXPECT_EQ(base64_encode("AAA\xFF"), "QUFB/w==");
}

TEST(Base64, RefusesWhatIsNotBase64) {
  for (const auto* bad : {"QUF", "QUFB=", "QU=B", "QUFB\n", " QUFB", "====", "QUF*"})
    EXPECT_FALSE(base64_decode(bad)) << bad;
}

} // namespace
} // namespace shim
