#include "slurm_shim/ge/schedule.h"
#include "slurm_shim/posix/files.h"

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace shim::ge {
namespace {

constexpr std::string_view k_text = "12:1:RUNNING:1796003000:600:G:global:x:1.000000\n"
                                    "::::::::\n"
                                    "12:1:RUNNING:1796003000:600:P:mpi:slots:4.000000\n"
                                    "13:1:RESERVING:1796003600:600:P:mpi:slots:4.000000\n"
                                    "13:1:RESERVING:1796003600:600:Q:batch.q@n1:slots:4.000000\n"
                                    "14:3:RESERVING:1796004200000000:600:Q:batch.q@n1:slots:4.0\n"
                                    "torn line\n15:x:RESERVING:1796003600:1\n"
                                    "::::::::\n";

TEST(Schedule, the_last_whole_run_counts) {
  const ReservedStarts wanted{{{13, 1}, 1796003600}, {{14, 3}, 1796004200}};
  EXPECT_EQ(parse_schedule(k_text), wanted);
  EXPECT_EQ(parse_schedule(std::string(k_text) + "99:1:RESERVING:1796009999:600:P:mpi:slots:1\n"),
            wanted)
      << "a run that is still being written";
  EXPECT_TRUE(parse_schedule(std::string(k_text) + "::::::::\n").empty())
      << "a run without a reservation";
  EXPECT_TRUE(parse_schedule("").empty());
  EXPECT_TRUE(parse_schedule("13:1:RESERVING:1796003600:600:P:mpi:slots:4\n").empty());
}

TEST(Schedule, as_8_1_9_writes_it) {
  const auto text = posix::read_file(SHIM_TEST_DATA "/fixtures/8.1.9/schedule");
  ASSERT_TRUE(text);
  const auto starts = parse_schedule(*text);
  ASSERT_EQ(starts.size(), 1U);
  EXPECT_EQ(starts.begin()->first, (TaskKey{21, 1}));
  EXPECT_EQ(starts.begin()->second, 1796031797);
}

TEST(Schedule, is_read_from_the_cell) {
  test::TempDir root;
  ASSERT_TRUE(posix::make_directories(root / "c1/common"));
  ASSERT_TRUE(posix::write_file_atomic(
      root / "c1/common/schedule", std::string(2 << 20, '\n') + std::string(k_text), 0644));
  EnvList env;
  EXPECT_TRUE(read_schedule(env).empty());
  env.set("SGE_ROOT", root.path());
  EXPECT_TRUE(read_schedule(env).empty());
  env.set("SGE_CELL", "c1");
  EXPECT_EQ(read_schedule(env).size(), 2U);
}

} // namespace
} // namespace shim::ge
