#include "slurm_shim/base/log.h"

#include <gtest/gtest.h>

namespace shim {
namespace {

TEST(Log, IsSilentUntilStarted) {
  log::start("srun", 0);
  ::testing::internal::CaptureStderr();
  log::debug("hosts {}", 3);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(Log, WritesUpToItsLevel) {
  log::start("srun", 1);
  ::testing::internal::CaptureStderr();
  log::debug("hosts {} {{}}", 3);
  log::trace("not at this level");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "srun: debug: hosts 3 {}\n");
  log::start("srun", 0);
}

} // namespace
} // namespace shim
