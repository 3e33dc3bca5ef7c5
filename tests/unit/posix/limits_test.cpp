#include "slurm_shim/posix/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

namespace shim::posix {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// Puts a limit of the test process back.
class Kept {
public:
  explicit Kept(int resource) : m_resource(resource) { ::getrlimit(resource, &m_limit); }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() { ::setrlimit(m_resource, &m_limit); }
  [[nodiscard]] rlim_t hard() const { return m_limit.rlim_max; }
  [[nodiscard]] rlim_t soft_now() const {
    rlimit limit{};
    ::getrlimit(m_resource, &limit);
    return limit.rlim_cur;
  }
  void set(rlim_t soft) const {
    const rlimit limit{soft, m_limit.rlim_max};
    ::setrlimit(m_resource, &limit);
  }

private:
  int m_resource;
  rlimit m_limit{};
};

TEST(SoftLimits, are_named_with_their_values) {
  const Kept core(RLIMIT_CORE);
  core.set(0);
  EXPECT_THAT(soft_limits("CORE"), ElementsAre("CORE=0"));
  EXPECT_THAT(soft_limits("rlimit_core"), ElementsAre("CORE=0"));
  EXPECT_THAT(soft_limits("NONE"), IsEmpty());
  EXPECT_THAT(soft_limits(""), Contains(StartsWith("STACK=")));
  EXPECT_THAT(soft_limits("ALL"), Contains(StartsWith("NOFILE=")));
  // What the engine limits per slot does not travel.
  EXPECT_THAT(soft_limits("ALL"), Not(Contains(StartsWith("AS="))));
}

TEST(SoftLimits, are_set_up_to_the_hard_ones) {
  const Kept core(RLIMIT_CORE);
  const Kept stack(RLIMIT_STACK);
  OpenFileLimit files{100, 200};
  apply_soft_limits({"CORE=0", "STACK=unlimited", "NOFILE=150"}, files);
  EXPECT_EQ(core.soft_now(), 0U);
  EXPECT_EQ(stack.soft_now(), stack.hard());
  EXPECT_EQ(files.soft, 150U);
  apply_soft_limits({"NOFILE=unlimited"}, files);
  EXPECT_EQ(files.soft, 200U);
}

TEST(SoftLimits, nonsense_changes_nothing) {
  const Kept core(RLIMIT_CORE);
  core.set(0);
  OpenFileLimit files{100, 200};
  apply_soft_limits({"", "CORE", "CORE=x", "CORE=-1", "AS=1", "NOFILE="}, files);
  EXPECT_EQ(core.soft_now(), 0U);
  EXPECT_EQ(files.soft, 100U);
}

} // namespace
} // namespace shim::posix
