#include "slurm_shim/ge/accounting.h"
#include "slurm_shim/posix/files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "support/temp_dir.h"

namespace shim::ge {
namespace {

class AccountingTest : public testing::Test {
protected:
  void SetUp() override {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
  // What query_end makes of a qacct that is this shell script.
  Result<std::optional<std::int64_t>> asked(const std::string& script) {
    EXPECT_TRUE(posix::write_file_atomic(m_folder / "qacct", "#!/bin/sh\n" + script, 0700));
    EnvList env;
    env.set("SLURM_SHIM_GE_BIN", m_folder.path());
    posix::ProcessRunner runner;
    return query_end(Tools(runner, env, std::chrono::seconds(20)), 65);
  }
  test::TempDir m_folder;
};

TEST_F(AccountingTest, takes_the_latest_end_of_all_records) {
  const auto old = posix::read_file(SHIM_TEST_DATA "/fixtures/8.1.9/qacct-array.stdout");
  ASSERT_TRUE(old);
  EXPECT_EQ(latest_end(*old), 1796003167); // 01:46:07
  const auto ocs = posix::read_file(SHIM_TEST_DATA "/fixtures/9.1.5/qacct-array.txt");
  ASSERT_TRUE(ocs);
  ASSERT_TRUE(latest_end(*ocs));
  EXPECT_GT(*latest_end(*ocs), 1796004000);
}

TEST_F(AccountingTest, reads_the_times_of_all_versions) {
  const std::pair<const char*, std::optional<std::int64_t>> cases[] = {
      {"end_time     Mon Nov 30 01:46:07 2026\n", 1796003167},
      {"end_time                           2026-11-30 01:46:07.143262  \n", 1796003167},
      {"end_time     11/30/2026 01:46:07.123\n", 1796003167},
      {"end_time     2026-11-30 01:46:07\nend_time     2026-11-30 01:46:06\n", 1796003167},
      {"end_time     -/-\n", std::nullopt},
      {"start_time   Mon Nov 30 01:46:07 2026\n", std::nullopt},
      {"", std::nullopt},
  };
  for (const auto& [text, want] : cases)
    EXPECT_EQ(latest_end(text), want) << text;
}

TEST_F(AccountingTest, an_unknown_job_is_no_failure_and_a_failure_no_unknown_job) {
  const auto known = asked("[ \"$*\" = '-j 65' ] && echo 'end_time     2026-11-30 01:46:07'\n");
  ASSERT_TRUE(known);
  EXPECT_EQ(*known, 1796003167);
  const auto unknown = asked("echo 'error: job id 65 not found' >&2; exit 1\n");
  ASSERT_TRUE(unknown);
  EXPECT_EQ(*unknown, std::nullopt);
  const auto broken = asked("echo 'error: cannot open accounting' >&2; exit 1\n");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(broken.error().message, "qacct: error: cannot open accounting");
}

} // namespace
} // namespace shim::ge
