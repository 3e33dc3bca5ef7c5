#include "slurm_shim/records/paths.h"

#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include <sys/stat.h>

namespace shim::records {
namespace {

// Answers getent as a machine whose only user is u.
class Getent final : public posix::Runner {
public:
  Result<posix::Output> run(const posix::RunRequest&) override {
    return posix::Output{0, "u:x:1000:1000:U:/home/from-getent:/bin/sh\n", ""};
  }
};

TEST(Paths, state_folder_by_home_cell_and_configuration) {
  const struct {
    std::vector<std::string> env;
    std::string job_records, expected;
  } cases[] = {
      {{"HOME=/home/u"}, "", "/home/u/.local/state/slurm-shim/default"},
      {{"HOME=/home/u", "SGE_CELL=prod"}, "", "/home/u/.local/state/slurm-shim/prod"},
      {{"SGE_CELL=prod"}, "", "/home/from-getent/.local/state/slurm-shim/prod"},
      {{"HOME=/home/u"}, "off", "/home/u/.local/state/slurm-shim/default"},
      {{"HOME=/home/u", "USER=u"}, "/var/shim", "/var/shim/u"},
  };
  Getent getent;
  for (const auto& c : cases) {
    const auto state = locate_state(getent, EnvList(c.env), c.job_records);
    ASSERT_TRUE(state);
    EXPECT_EQ(state->root(), c.expected);
  }
}

TEST(Paths, refuses_a_folder_it_cannot_name) {
  Getent getent;
  const auto relative = locate_state(getent, EnvList({"HOME=/h", "USER=u"}), "here");
  ASSERT_FALSE(relative);
  EXPECT_EQ(relative.error().message,
            "job_records: \"here\" is neither \"off\" nor an absolute path");
  EXPECT_FALSE(locate_state(getent, EnvList({"HOME=/h", "USER=../x"}), "/var/shim"));
  EXPECT_FALSE(locate_state(getent, EnvList({"HOME=relative"}), ""));
}

TEST(Paths, names_of_files) {
  const StatePaths state("/s");
  EXPECT_EQ(state.env_file("00ff"), "/s/submit/00ff.env");
  EXPECT_EQ(state.req_file("00ff"), "/s/submit/00ff.req");
  EXPECT_EQ(state.log_file("00ff"), "/s/submit/00ff.log");
  EXPECT_EQ(state.submit_file(7), "/s/jobs/7.submit");
  EXPECT_EQ(state.job_record({7, std::nullopt}), "/s/jobs/7.jsonl");
  EXPECT_EQ(state.job_record({7, 3}), "/s/jobs/7.3.jsonl");
  EXPECT_EQ(state.mailbox({7, 3}), "/s/jobs/7.3.mbox");
  EXPECT_EQ(JobFolder::from_env(EnvList({"TMPDIR=/t"})).batch_json(), "/t/slurm_shim/batch.json");
  EXPECT_EQ(JobFolder::from_env(EnvList()).step_requests(2), "/tmp/slurm_shim/steps/2.req");
}

TEST(Paths, state_folders_are_private) {
  const test::TempDir dir;
  const StatePaths state(dir / "a/b");
  ASSERT_TRUE(make_state_folders(state));
  ASSERT_TRUE(make_state_folders(state)); // again is fine
  for (const auto& path : {state.root(), state.submit_dir(), state.jobs_dir()}) {
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777U, 0700U) << path;
  }
}

TEST(Paths, tokens) {
  EXPECT_TRUE(is_token(new_token()));
  EXPECT_NE(new_token(), new_token());
  for (const auto* bad :
       {"", "9f3c21d07be84a5", "9f3c21d07be84a555", "9F3C21D07BE84A55", "9f3c21d07be84a5/"})
    EXPECT_FALSE(is_token(bad)) << bad;
}

} // namespace
} // namespace shim::records
