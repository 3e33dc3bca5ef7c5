#include "slurm_shim/posix/files.h"
#include "slurm_shim/records/submit_file.h"
#include "slurm_shim/records/sweep.h"

#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include <fcntl.h>
#include <sys/stat.h>

namespace shim::records {
namespace {

constexpr std::int64_t k_day = 86400;
const std::string k_tok = "9f3c21d07be84a55";

TEST(Sweep, what_goes_and_what_stays) {
  const auto days_ago = [](std::int64_t days) { return 1000 * k_day - days * k_day - 1; };
  SweepInput input;
  input.now_s = 1000 * k_day;
  input.submitted = {{"aaaaaaaaaaaaaaaa", 1}, {"bbbbbbbbbbbbbbbb", 2}, {"cccccccccccccccc", 3}};
  input.alive = {1, 9};
  input.submit_files = {
      {"aaaaaaaaaaaaaaaa.env", days_ago(500)},   // pends since long
      {"bbbbbbbbbbbbbbbb.env", days_ago(1)},     // its job is gone
      {"cccccccccccccccc.env", days_ago(0)},     // gone, but of today
      {"dddddddddddddddd.log", days_ago(29)},    // nobody knows it: may be between qsub and .submit
      {"eeeeeeeeeeeeeeee.log", days_ago(30)},    // nobody knows it
      {".ffffffffffffffff.env.77", days_ago(1)}, // left by a writer that died
      {".ffffffffffffffff.env.78", days_ago(0)},
  };
  input.job_files = {
      {"1.submit", days_ago(400)}, // alive
      {"2.submit", days_ago(90)},
      {"2.jsonl", days_ago(89)},
      {"9.4.jsonl", days_ago(100)}, // task of a living array
      {"8.4.mbox", days_ago(100)},
      {".2.submit.55", days_ago(2)},
  };
  const auto plan = plan_sweep(input);
  EXPECT_EQ(plan.submit_names,
            (std::vector<std::string>{
                "bbbbbbbbbbbbbbbb.env", "eeeeeeeeeeeeeeee.log", ".ffffffffffffffff.env.77"}));
  EXPECT_EQ(plan.job_names, (std::vector<std::string>{"2.submit", "8.4.mbox", ".2.submit.55"}));
}

TEST(Sweep, one_token_of_several_jobs_lives_as_long_as_one_of_them) {
  SweepInput input;
  input.now_s = 100 * k_day;
  input.submitted = {{k_tok, 1}, {k_tok, 2}};
  input.alive = {1};
  input.submit_files = {{k_tok + ".env", 0}};
  EXPECT_TRUE(plan_sweep(input).submit_names.empty());
}

class SweepTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(make_state_folders(state));
    SubmitFile file;
    file.tok = k_tok;
    file.job = 7;
    ASSERT_TRUE(write_submit_file(state, file));
    ASSERT_TRUE(posix::write_file_atomic(state.env_file(k_tok), "x"));
    make_old(state.env_file(k_tok));
  }
  static void make_old(const std::string& path) {
    const timespec times[2] = {{1000, 0}, {1000, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }

  test::TempDir dir;
  StatePaths state{dir.path()};
  posix::SystemClock clock;
};

TEST_F(SweepTest, removes_the_environment_of_a_job_that_is_gone) {
  EXPECT_TRUE(sweep_is_due(state, clock));
  const auto count = sweep(
      state, clock, [] { return std::set<std::int64_t>{}; }, std::chrono::milliseconds(1000));
  ASSERT_TRUE(count) << count.error().message;
  EXPECT_EQ(*count, 1);
  EXPECT_FALSE(posix::exists(state.env_file(k_tok)));
  EXPECT_TRUE(posix::exists(state.submit_file(7)));
  EXPECT_FALSE(sweep_is_due(state, clock));
  make_old(state.sweep_stamp());
  EXPECT_TRUE(sweep_is_due(state, clock));
}

TEST_F(SweepTest, removes_nothing_when_the_engine_does_not_answer) {
  const auto count = sweep(
      state,
      clock,
      []() -> Result<std::set<std::int64_t>> {
        return fail(ErrorKind::unavailable, "qstat: no answer within 1000 ms");
      },
      std::chrono::milliseconds(1000));
  ASSERT_FALSE(count);
  EXPECT_EQ(count.error().message, "qstat: no answer within 1000 ms");
  EXPECT_TRUE(posix::exists(state.env_file(k_tok)));
}

TEST_F(SweepTest, removes_nothing_without_time_to_learn_who_owns_what) {
  const auto count = sweep(
      state, clock, [] { return std::set<std::int64_t>{}; }, std::chrono::milliseconds(-1));
  EXPECT_FALSE(count);
  EXPECT_TRUE(posix::exists(state.env_file(k_tok)));
}

TEST_F(SweepTest, a_refused_submission_leaves_nothing) {
  ASSERT_TRUE(posix::write_file_atomic(state.log_file(k_tok), ""));
  remove_submission(state, k_tok);
  EXPECT_FALSE(posix::exists(state.env_file(k_tok)));
  EXPECT_FALSE(posix::exists(state.log_file(k_tok)));
}

} // namespace
} // namespace shim::records
