#include "slurm_shim/commands/admin.h"
#include "slurm_shim/records/submit_file.h"

#include <gtest/gtest.h>

#include "support/fake_engine.h"
#include <fcntl.h>
#include <sys/stat.h>

namespace shim::commands {
namespace {

class RecordsPrune : public testing::Test {
protected:
  void SetUp() override {
    m_env.set("SLURM_SHIM_CONFIG", m_folder / "none.yaml");
    ASSERT_TRUE(records::make_state_folders(m_state));
    for (const int job : {7, 43}) {
      records::SubmitFile file;
      file.job = job;
      file.tok = std::string(16, job == 7 ? 'a' : 'b');
      ASSERT_TRUE(records::write_submit_file(m_state, file));
      ASSERT_TRUE(posix::write_file_atomic(m_state.env_file(file.tok), "x"));
      age(m_state.env_file(file.tok), 2);
    }
    ASSERT_TRUE(posix::write_file_atomic(m_state.job_record({5, std::nullopt}), "x"));
    age(m_state.job_record({5, std::nullopt}), 91);
  }
  static void age(const std::string& path, int days) {
    timespec times[2]{};
    times[0].tv_sec = times[1].tv_sec = std::time(nullptr) - days * 86400;
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  int records(const std::vector<std::string>& words) {
    context::Context ctx{"slurm-shim", m_env, m_out, m_err, m_engine, m_clock, {}};
    return run_records(ctx, words);
  }
  test::TempDir m_folder;
  EnvList m_env;
  test::FakeEngine m_engine{m_env};
  records::StatePaths m_state{m_env.get_or("HOME", "") + "/.local/state/slurm-shim/default"};
  StringSink m_out, m_err;
  posix::SystemClock m_clock;
};

TEST_F(RecordsPrune, KeepsWhatLivingJobsNeed) {
  m_engine.answer_file("qstat -xml -r -u alice", "8.1.9/qstat-r-xml-states.stdout"); // 43 runs
  EXPECT_EQ(records({"prune"}), 0) << m_err.text();
  EXPECT_EQ(m_out.text(), m_state.root() + ": 2 files removed\n");
  EXPECT_FALSE(posix::exists(m_state.env_file(std::string(16, 'a'))));
  EXPECT_TRUE(posix::exists(m_state.env_file(std::string(16, 'b'))));
  EXPECT_FALSE(posix::exists(m_state.job_record({5, std::nullopt})));
  EXPECT_TRUE(posix::exists(m_state.submit_file(7))) << "ninety days";
}

TEST_F(RecordsPrune, RemovesNothingWhenNobodyCanBeAsked) {
  EXPECT_EQ(records({"prune"}), 1);
  EXPECT_NE(m_err.text().find("records: nothing was removed: qstat"), std::string::npos);
  EXPECT_TRUE(posix::exists(m_state.env_file(std::string(16, 'a'))));
}

TEST_F(RecordsPrune, SaysWhatItCanDo) {
  EXPECT_EQ(records({"--help"}), 0);
  EXPECT_NE(m_out.text().find("prune"), std::string::npos);
  EXPECT_EQ(records({}), 1);
  EXPECT_EQ(records({"polish"}), 1);
}

} // namespace
} // namespace shim::commands
