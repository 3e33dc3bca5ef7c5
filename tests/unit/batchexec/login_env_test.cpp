#include "login_env.h"

#include "slurm_shim/posix/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace shim::batchexec {
namespace {

using std::chrono::seconds;

EnvList account(const std::string& home, const std::string& shell) {
  EnvList own;
  own.set("HOME", home);
  own.set("SHELL", shell);
  own.set("JOB_ID", "7");
  own.set("SECRET", "of the job");
  return own;
}

TEST(LoginEnvironment, is_what_the_profile_sets_and_nothing_of_the_job) {
  const test::TempDir home;
  ASSERT_TRUE(posix::write_file_atomic(home.path() + "/.profile",
                                       "echo welcome\nexport SITE='a\nb' JOB_ID=1 SLURM_X=1\n"));
  posix::ProcessRunner runner;
  const auto entries = login_environment(runner, account(home.path(), "/bin/bash"), seconds(60));
  ASSERT_TRUE(entries.has_value()) << entries.error().message;
  EXPECT_THAT(*entries, testing::Contains("SITE=a\nb"));
  EXPECT_THAT(*entries, testing::Contains("HOME=" + home.path()));
  for (const auto& entry : *entries)
    EXPECT_THAT(entry,
                testing::Not(testing::MatchesRegex("(JOB_ID|SLURM_X|SECRET|SHLVL|_|PWD)=.*")));
}

TEST(LoginEnvironment, a_shell_that_cannot_or_does_not_end_is_an_error) {
  const test::TempDir home;
  posix::ProcessRunner runner;
  EXPECT_FALSE(login_environment(runner, account(home.path(), "/bin/false"), seconds(60)));
  EXPECT_FALSE(login_environment(runner, account(home.path(), "/nonexistent"), seconds(60)));
  ASSERT_TRUE(posix::write_file_atomic(home.path() + "/.profile", "sleep 100\n"));
  EXPECT_FALSE(login_environment(runner, account(home.path(), "/bin/bash"), seconds(1)));
}

} // namespace
} // namespace shim::batchexec
