#include "cancel.h"
#include "request.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/commands/scancel.h"

#include <gtest/gtest.h>

#include <csignal>

namespace shim::commands::scancel {
namespace {

Result<Request> request_of(std::string_view line, std::vector<std::string> env = {}) {
  std::vector<std::string> words;
  for (const auto word : split_words(line))
    words.emplace_back(word);
  const auto parsed = cli::parse(scancel_options(), words, {.command = "scancel", .permute = true});
  if (!parsed) return tl::unexpected<Error>(parsed.error());
  return make_request(*parsed, EnvList(std::move(env)));
}

// Texts of vectors/11.
TEST(ScancelRequest, RefusesInSlurmsWords) {
  const struct {
    const char *line, *text;
  } cases[] = {
      {"", "No job identification provided"},
      {"abc", "Invalid job id abc"},
      {"0", "Invalid job id 0"},
      {"-- -5", "Invalid job id -5"},
      {"-s BOGUS 5", "Unknown job signal: BOGUS"},
      {"-s 0 5", "Unknown job signal: 0"},
      {"7_[x]", "_parse_single_range: Invalid range: `x'\nInvalid job id 7_[x]"},
      // vectors/13 life.scancel_batchstep
      {"7.batch", "Invalid job id 7.batch"},
      {"-s USR1 5 7.extern", "Invalid job id 7.extern"},
  };
  for (const auto& c : cases) {
    const auto request = request_of(c.line);
    ASSERT_FALSE(request) << c.line;
    EXPECT_EQ(request.error().message, c.text);
    EXPECT_EQ(request.error().exit_code, 1);
  }
}

TEST(ScancelRequest, TakesListsOfIdsAroundOptions) {
  const auto request = request_of("7,8_3 -Q 9_[1-2] 10.0");
  ASSERT_TRUE(request) << request.error().message;
  ASSERT_EQ(request->jobs.size(), 4U);
  EXPECT_EQ(request->jobs[1].indices, (std::vector<std::uint32_t>{3}));
  EXPECT_EQ(request->jobs[2].indices, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(request->jobs[3].step, "0");
  EXPECT_TRUE(request->quiet);
  EXPECT_TRUE(request->ends_job());
}

TEST(ScancelRequest, OnlyAPlainKillEndsTheJob) {
  EXPECT_TRUE(request_of("-s KILL 7")->ends_job());
  EXPECT_FALSE(request_of("-s SIGTERM 7")->ends_job());
  EXPECT_FALSE(request_of("-b -s KILL 7")->ends_job());
  // Without a signal the entire job ends, whoever else was named.
  EXPECT_TRUE(request_of("-b 7")->ends_job());
  EXPECT_TRUE(request_of("-f 7")->ends_job());
  EXPECT_TRUE(request_of("7", {"SCANCEL_BATCH=1"})->ends_job());
  EXPECT_TRUE(request_of("-f -s KILL 7")->ends_job());
  EXPECT_TRUE(request_of("-b -f -s KILL 7")->ends_job());
  EXPECT_FALSE(request_of("-f -s USR1 7")->ends_job());
  EXPECT_EQ(request_of("--signal=usr1 7")->signal, SIGUSR1);
}

TEST(ScancelRequest, VariablesAreFilters) {
  const auto request = request_of("", {"SCANCEL_USER=u", "SCANCEL_STATE=PENDING,R"});
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->users, (std::vector<std::string>{"u"}));
  EXPECT_EQ(request->states.size(), 2U);
  EXPECT_EQ(request_of("-u v", {"SCANCEL_USER=u"})->users, (std::vector<std::string>{"v"}));
}

TEST(ScancelRequest, AllFiltersMustHold) {
  queue::Job job;
  job.user = "u";
  job.name = "train";
  job.partition = "gpu";
  job.state = slurm::JobState::running;
  job.hosts = {"n1.example", "n2.example"};
  EXPECT_TRUE(keeps(*request_of("-u u -n train -p gpu -t RUNNING -w n2"), job));
  EXPECT_TRUE(keeps(*request_of("-w n1.example"), job));
  for (const auto* line : {"-u v", "-u u -n other", "-p batch -n train", "-t PD -u u", "-w n3"})
    EXPECT_FALSE(keeps(*request_of(line), job)) << line;
}

TEST(ScancelRequest, ChoosesByWhatWasAskedFor) {
  records::SubmitRecord record;
  record.set("qos", "high");
  record.set("resv", "12");
  queue::Job job;
  job.account = "acct1";
  job.partition = "batch,gpu";
  EXPECT_TRUE(keeps(*request_of("-q normal -A acct1 -p gpu"), job));
  job.record = std::make_shared<const records::SubmitRecord>(record);
  EXPECT_TRUE(keeps(*request_of("-q high -R 12"), job));
  for (const auto* line : {"-q normal", "-R 13", "-A acct2", "--wckey k", "-p spare"})
    EXPECT_FALSE(keeps(*request_of(line), job)) << line;
}

// Answers captured from 8.1.9 and OCS 9.1.5.
TEST(ScancelQdel, AnswersAreTold) {
  const struct {
    const char* line;
    Answer answer;
  } cases[] = {
      {"user1 has registered the job-array task 45.2 for deletion", Answer::done},
      {"user1 has deleted job 46", Answer::done},
      {"job 44 is already in deletion", Answer::done},
      {"denied: job \"99999\" does not exist", Answer::gone},
      {"alice - you do not have the necessary privileges to delete the job \"254\"",
       Answer::denied},
      {"error: unable to send message to qmaster", Answer::other},
  };
  for (const auto& c : cases)
    EXPECT_EQ(classify_qdel(c.line), c.answer) << c.line;
}

} // namespace
} // namespace shim::commands::scancel
