#include "slurm_shim/queue/steps.h"
#include "slurm_shim/records/job_record.h"

#include <gtest/gtest.h>

#include "support/fake_engine.h"

namespace shim::queue {
namespace {

constexpr std::int64_t k_start = 1796003000;

class QueueSteps : public ::testing::Test {
protected:
  QueueSteps() { EXPECT_TRUE(records::make_state_folders(m_state)); }
  Job running() const {
    Job job;
    job.job = job.id = 7;
    job.state = slurm::JobState::running;
    job.hosts = {"n1", "n2"};
    job.partition = "batch";
    job.user = "alice";
    job.start = k_start;
    records::SubmitRecord record;
    record.set("tok", "0123456789abcdef");
    job.record = std::make_shared<const records::SubmitRecord>(record);
    return job;
  }
  std::vector<std::string> steps(const Job& job) {
    std::vector<std::string> shown;
    for (const auto& step : steps_of({m_tools, m_config, m_state, k_start + 60}, {job}))
      shown.push_back(step.display_id() + " " + step.name + " " + step.hosts);
    return shown;
  }
  test::TempDir m_folder;
  records::StatePaths m_state{m_folder / "state"};
  EnvList m_env;
  test::FakeEngine m_engine{m_env};
  config::Config m_config;
  ge::Tools m_tools{m_engine, m_env, std::chrono::seconds(5)};
};

using Lines = std::vector<std::string>;

TEST_F(QueueSteps, EveryRunningJobHasItsBatchStep) {
  auto job = running();
  EXPECT_EQ(steps(job), Lines{"7.batch batch n1"}) << "no record yet";
  job.record = nullptr;
  EXPECT_EQ(steps(job), Lines{"7.batch batch n1"}) << "not from sbatch";
  job.state = slurm::JobState::pending;
  EXPECT_TRUE(steps(job).empty());
  job.state = slurm::JobState::completed;
  EXPECT_TRUE(steps(job).empty());
}

TEST_F(QueueSteps, TheRecordTellsOfThoseThatRun) {
  records::BatchJob batch;
  batch.tok = "0123456789abcdef";
  batch.job = 7;
  batch.dir = m_state.root();
  const records::JobRecordWriter writer(batch);
  records::StartEvent start;
  start.t_ms = k_start * 1000;
  start.job = 7;
  ASSERT_TRUE(writer.start(start));
  for (int step = 0; step < 2; ++step)
    ASSERT_TRUE(writer.step_start({.t_ms = (k_start + step) * 1000,
                                   .step = step,
                                   .name = "train",
                                   .cmd = "train",
                                   .hosts = "n[1-2]",
                                   .nodes = 2,
                                   .ntasks = 4,
                                   .cpus = 4}));
  records::StepEndEvent end;
  end.t_ms = (k_start + 9) * 1000;
  ASSERT_TRUE(writer.step_end(end));
  EXPECT_EQ(steps(running()), (Lines{"7.1 train n[1-2]", "7.batch batch n1"}));
  auto other = running();
  other.start = k_start + 100000;
  EXPECT_EQ(steps(other), Lines{"7.batch batch n1"}) << "an older job of the same number";
}

} // namespace
} // namespace shim::queue
