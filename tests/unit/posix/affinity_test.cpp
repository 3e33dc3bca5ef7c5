#include "slurm_shim/posix/affinity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace {

using namespace shim;
using testing::ElementsAre;

TEST(CpuList, reads_numbers_and_ranges) {
  EXPECT_THAT(posix::parse_cpu_list("0-3").value(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(posix::parse_cpu_list("0-1,4").value(), ElementsAre(0, 1, 4));
  EXPECT_THAT(posix::parse_cpu_list("0-0").value(), ElementsAre(0));
  EXPECT_THAT(posix::parse_cpu_list("1,,2").value(), ElementsAre(1, 2));
  EXPECT_THAT(posix::parse_cpu_list(" 1 , 2 ").value(), ElementsAre(1, 2));
  EXPECT_TRUE(posix::parse_cpu_list("").value().empty());
}

TEST(CpuList, refuses_and_names_what_is_wrong) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"3-1", "invalid cpu range \"3-1\""},
      {"a", "invalid cpu \"a\""},
      {"-1", "invalid cpu range \"-1\""},
      {"1-", "invalid cpu range \"1-\""},
      {"0x3", "invalid cpu \"0x3\""},
      {"0-99999999", "invalid cpu range \"0-99999999\""},
      {"0,2b", "invalid cpu \"2b\""},
  };
  for (const auto& c : cases) {
    const auto cpus = posix::parse_cpu_list(c.text);
    ASSERT_FALSE(cpus.has_value()) << c.text;
    EXPECT_EQ(cpus.error().message, c.message);
    EXPECT_EQ(cpus.error().kind, ErrorKind::malformed);
  }
}

TEST(Affinity, what_is_allowed_can_be_set_and_an_impossible_cpu_cannot) {
  const auto allowed = posix::allowed_cpus();
  ASSERT_FALSE(allowed.empty());
  EXPECT_EQ(posix::set_affinity(allowed), 0);
  EXPECT_EQ(posix::set_affinity({1 << 20}), EINVAL);
  EXPECT_EQ(posix::allowed_cpus(), allowed);
}

} // namespace
