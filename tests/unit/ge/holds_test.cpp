#include "slurm_shim/ge/holds.h"

#include <gtest/gtest.h>

namespace shim::ge {
namespace {

TEST(Holds, what_is_left_to_wait_for) {
  EXPECT_EQ(remaining_holds({7, 8, 9}, 8), "7,9");
  EXPECT_EQ(remaining_holds({7, 8}, 6), "7,8");
  EXPECT_EQ(remaining_holds({8}, 8), "9999999") << "no job has this number";
}

} // namespace
} // namespace shim::ge
