#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/jobs.h"
#include "slurm_shim/posix/files.h"

#include <gtest/gtest.h>

#include <deque>

#include "support/temp_dir.h"

namespace shim::ge {
namespace {

std::string fixture(const std::string& name) {
  return posix::read_file(SHIM_TEST_DATA "/fixtures/" + name).value_or("no fixture " + name);
}

// Answers in order; remembers what was asked.
class ScriptedRunner final : public posix::Runner {
public:
  Result<posix::Output> run(const posix::RunRequest& request) override {
    const std::vector<std::string> words(request.argv.begin() + 1, request.argv.end());
    asked.push_back(join(words, " "));
    if (answers.empty()) return fail(ErrorKind::unavailable, "qstat: timed out");
    auto answer = answers.front();
    answers.pop_front();
    return answer;
  }
  std::deque<posix::Output> answers;
  std::vector<std::string> asked;
};

class JobQueriesTest : public testing::Test {
protected:
  JobQueriesTest() {
    const auto path = m_folder.path() + "/qstat";
    EXPECT_TRUE(posix::write_file_atomic(path, "#!/bin/sh\n", 0700));
    m_env.set("SLURM_SHIM_GE_BIN", m_folder.path());
  }
  test::TempDir m_folder;
  EnvList m_env;
  ScriptedRunner m_runner;
  Tools m_tools{m_runner, m_env, std::chrono::seconds(5)};
};

TEST_F(JobQueriesTest, asks_for_one_view_of_the_users) {
  for (int i = 0; i < 3; ++i)
    m_runner.answers.push_back({0, fixture("8.1.9/qstat-gt-xml.stdout"), ""});
  EXPECT_TRUE(list_jobs(m_tools, {}, TaskView::jobs));
  EXPECT_TRUE(list_jobs(m_tools, {"alice", "bob"}, TaskView::hosts));
  EXPECT_TRUE(list_jobs(m_tools, {}, TaskView::tasks));
  EXPECT_EQ(m_runner.asked,
            (std::vector<std::string>{
                "-xml -r -u *", "-xml -r -g t -s rs -u alice,bob", "-xml -r -g d -u *"}));
}

TEST_F(JobQueriesTest, a_failed_question_is_no_empty_answer) {
  m_runner.answers.push_back({1, "", "error: commlib error: got select error\nmore\n"});
  const auto refused = list_jobs(m_tools, {}, TaskView::jobs);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(refused.error().message, "qstat: error: commlib error: got select error");
  EXPECT_FALSE(describe_jobs(m_tools, {7})) << "timed out";
  m_runner.answers.push_back({0, "", ""});
  const auto empty = list_jobs(m_tools, {}, TaskView::jobs);
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().kind, ErrorKind::malformed);
}

TEST_F(JobQueriesTest, asks_again_without_the_unknown_jobs) {
  m_runner.answers.push_back({1, fixture("8.1.9/qstat-j-missing-xml.stdout"), ""});
  m_runner.answers.push_back({0, fixture("8.1.9/qstat-j-two-xml.stdout"), ""});
  const auto found = describe_jobs(m_tools, {43, 99999, 44, 45});
  ASSERT_TRUE(found);
  EXPECT_EQ(m_runner.asked,
            (std::vector<std::string>{"-xml -j 43,99999,44,45", "-xml -j 43,44,45"}));
  EXPECT_EQ(found->jobs.size(), 2u);
  EXPECT_EQ(found->unknown, (std::vector<std::uint64_t>{99999, 45}));
}

TEST_F(JobQueriesTest, nothing_is_asked_about_no_job) {
  const auto found = describe_jobs(m_tools, {});
  ASSERT_TRUE(found);
  EXPECT_TRUE(m_runner.asked.empty());
}

} // namespace
} // namespace shim::ge
