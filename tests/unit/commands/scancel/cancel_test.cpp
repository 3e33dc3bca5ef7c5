#include "cancel.h"

#include "slurm_shim/commands/scancel.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/records/cancel_note.h"

#include <gtest/gtest.h>

#include <csignal>
#include <deque>

#include "support/temp_dir.h"
#include <sys/stat.h>

namespace shim::commands::scancel {
namespace {

// Answers calls in order and remembers what was asked.
class ScriptedRunner final : public posix::Runner {
public:
  Result<posix::Output> run(const posix::RunRequest& request) override {
    calls.emplace_back(request.argv.begin() + 1, request.argv.end());
    if (answers.empty()) return fail(ErrorKind::unavailable, "no answer within 5 ms");
    auto answer = answers.front();
    answers.pop_front();
    return answer;
  }
  std::deque<posix::Output> answers;
  std::vector<std::vector<std::string>> calls;
};

class Cancel : public ::testing::Test {
protected:
  // Tools are looked up before they are run: an executable of the right name has to be there.
  void SetUp() override {
    for (const auto* tool : {"qdel", "qmod"})
      ASSERT_TRUE(posix::write_file_atomic(m_folder.path() + "/" + tool, "", 0755));
    m_env.set("SLURM_SHIM_GE_BIN", m_folder.path());
  }
  test::TempDir m_folder;
  EnvList m_env;
  StringSink m_out, m_err;
  ScriptedRunner m_runner;
  posix::SystemClock m_clock;
  context::Context m_ctx{"scancel", m_env, m_out, m_err, m_runner, m_clock, {}};
  ge::Tools m_tools{m_runner, m_env, std::chrono::milliseconds(5)};
  Engine m_engine{m_ctx, m_tools, std::nullopt};
  Request m_request;
};

TEST_F(Cancel, DeletesInBatchesOfAHundred) {
  std::vector<std::string> names;
  for (int i = 1; i <= 150; ++i)
    names.push_back(std::to_string(i));
  m_runner.answers = {{0, "u has deleted job 1\n", ""}, {0, "u has deleted job 101\n", ""}};
  EXPECT_EQ(end_jobs(m_engine, m_request, names), 0);
  ASSERT_EQ(m_runner.calls.size(), 2U);
  EXPECT_EQ(m_runner.calls[0].size(), 100U);
  EXPECT_EQ(m_runner.calls[1].size(), 50U);
  EXPECT_EQ(m_err.text(), "");
}

TEST_F(Cancel, RunsOfTasksAreOneCallEach) {
  EXPECT_EQ(engine_targets(7, {}), std::vector<std::string>{"7"});
  EXPECT_EQ(engine_targets(7, {1, 3, 4, 5, 9}), (std::vector<std::string>{"7.1", "7.3-5", "7.9"}));
  m_runner.answers = {{0, "u has deleted job 6\n", ""},
                      {0, "u has deleted job-array task 7.3\n", ""}};
  EXPECT_EQ(end_jobs(m_engine, m_request, {"6", "7.3-5", "7.9"}), 0);
  using Calls = std::vector<std::vector<std::string>>;
  EXPECT_EQ(m_runner.calls, (Calls{{"6", "7.9"}, {"7", "-t", "3-5"}}));
}

TEST_F(Cancel, AJobThatHasEndedIsFine) {
  m_runner.answers = {{1, "denied: job \"7\" does not exist\n", ""}};
  EXPECT_EQ(end_jobs(m_engine, m_request, {"7"}), 0);
  EXPECT_EQ(m_err.text(), "");
}

TEST_F(Cancel, AForeignJobIsDeniedByItsNumber) {
  const posix::Output denied{
      1, "u - you do not have the necessary privileges to delete the job \"254\"\n", ""};
  m_runner.answers = {denied, denied};
  EXPECT_EQ(end_jobs(m_engine, m_request, {"7", "254"}), 210);
  EXPECT_EQ(m_err.text(),
            "scancel: error: Kill job error on job id 254: Access/permission denied\n");
  m_request.quiet = true;
  EXPECT_EQ(end_jobs(m_engine, m_request, {"254"}), 210);
  EXPECT_EQ(m_err.text().size(),
            std::string_view("scancel: error: Kill job error on job id 254: "
                             "Access/permission denied\n")
                .size());
}

TEST_F(Cancel, AnEngineThatDoesNotAnswerIsAnError) {
  EXPECT_EQ(end_jobs(m_engine, m_request, {"7"}), 1);
  EXPECT_NE(m_err.text().find("no answer within 5 ms"), std::string::npos);
  m_runner.answers = {{1, "", "error: unable to send message to qmaster\n"}};
  EXPECT_EQ(end_jobs(m_engine, m_request, {"7"}), 1);
  EXPECT_NE(m_err.text().find("qdel: error: unable to send message to qmaster\n"),
            std::string::npos);
}

TEST_F(Cancel, KeepsANoteOfWhatIsToEnd) {
  const records::StatePaths state(m_folder / "state");
  ASSERT_TRUE(records::make_state_folders(state));
  for (const int job : {7, 45, 46})
    ASSERT_TRUE(posix::write_file_atomic(state.submit_file(job), "{}\n"));
  m_engine.state = state;
  m_engine.self = "alice";
  m_runner.answers = {{1,
                       "alice has registered the job 7 for deletion\n"
                       "alice has registered the job-array task 45.2 for deletion\n"
                       "alice has deleted job-array task 45.3\n"
                       "bob - you do not have the necessary privileges to delete the job \"46\"\n",
                       ""}};
  EXPECT_EQ(end_jobs(m_engine, m_request, {"7", "45.2", "45.3", "46"}), 210);
  const auto whole = records::read_cancel_notes(state, 7);
  ASSERT_EQ(whole.size(), 1U);
  EXPECT_TRUE(whole[0].tasks.empty());
  EXPECT_EQ(whole[0].user, "alice");
  ASSERT_EQ(records::read_cancel_notes(state, 45).size(), 1U);
  EXPECT_EQ(records::read_cancel_notes(state, 45)[0].tasks, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_TRUE(records::read_cancel_notes(state, 46).empty());
}

TEST_F(Cancel, ForeignJobsAreDeniedBeforeAnybodyIsAsked) {
  queue::Job job;
  job.job = 7;
  job.user = "bob";
  job.state = slurm::JobState::running;
  m_engine.self = "alice";
  m_request.signal = SIGUSR1;
  EXPECT_EQ(signal_job(m_engine, m_request, job, ""), 210);
  EXPECT_EQ(m_err.text(), "scancel: error: Kill job error on job id 7: Access/permission denied\n");
  EXPECT_TRUE(m_runner.calls.empty());
}

TEST_F(Cancel, AStepOfAJobThatWaitsIsUnknown) {
  queue::Job job;
  job.job = 7;
  EXPECT_EQ(signal_job(m_engine, m_request, job, "3"), 225);
  const std::string line =
      "scancel: error: Kill job error on job step id 7: Invalid job id specified\n";
  EXPECT_EQ(m_err.text(), line + line);
}

TEST_F(Cancel, SignalsOfUnsupervisedJobsAreStopAndContinueOnly) {
  queue::Job job;
  job.job = 7;
  job.state = slurm::JobState::running;
  m_request.signal = SIGSTOP;
  m_runner.answers = {{0, "u - suspended job 7\n", ""}};
  EXPECT_EQ(signal_job(m_engine, m_request, job, ""), 0);
  EXPECT_EQ(m_runner.calls, (std::vector<std::vector<std::string>>{{"-sj", "7"}}));
  m_request.signal = SIGUSR1;
  EXPECT_EQ(signal_job(m_engine, m_request, job, ""), 1);
  EXPECT_NE(m_err.text().find("job id 7: the job has no supervisor"), std::string::npos);
  job.state = slurm::JobState::pending;
  EXPECT_EQ(signal_job(m_engine, m_request, job, ""), 1);
  EXPECT_NE(m_err.text().find("job id 7: Job is pending execution"), std::string::npos);
}

} // namespace
} // namespace shim::commands::scancel
