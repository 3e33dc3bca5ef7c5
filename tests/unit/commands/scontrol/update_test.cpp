#include "update.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/date_time.h"

#include <gtest/gtest.h>

namespace shim::commands::scontrol {
namespace {

constexpr std::int64_t k_now = 1'796'040'000; // 2026-11-30T12:00:00 UTC

ge::JobFacts waiting() {
  ge::JobFacts job;
  job.job = 7;
  job.requests = {{"h_vmem", "2G"}, {"h_rt", "3600"}};
  return job;
}

config::Config partitions() {
  config::Config config;
  config::Partition debug;
  debug.name = "debug";
  debug.queue = "debug.q";
  config.partitions = {debug};
  return config;
}

Result<JobChange> changed(const std::vector<std::string>& words,
                          const ge::JobFacts& job = waiting(),
                          const std::optional<records::SubmitRecord>& record = {},
                          const submit::EngineFacts& engine = {}) {
  const auto config = partitions();
  return translate({config, job, record, engine, k_now}, parse_keys(words));
}

TEST(UpdateKeys, are_read_in_both_spellings) {
  const std::vector<std::string> words{"job", "7", "name=x", "Comment=\"a b\""};
  const auto keys = parse_keys(words);
  ASSERT_EQ(keys.size(), 3U);
  EXPECT_EQ(keys[0].name, "job");
  EXPECT_EQ(keys[0].value, "7");
  EXPECT_EQ(keys[1].value, "x");
  EXPECT_EQ(keys[2].value, "a b");
  EXPECT_EQ(keys[2].written, "Comment=\"a b\"");
}

TEST(UpdateJob, becomes_qalter) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"TimeLimit=30"}, "-l h_vmem=2G,h_rt=1800"},
      {{"TimeLimit=+30"}, "-l h_vmem=2G,h_rt=5400"},
      {{"TimeLimit=-30"}, "-l h_vmem=2G,h_rt=1800"},
      {{"TimeLimit=UNLIMITED"}, "-l h_vmem=2G"},
      {{"Name=new"}, "-N new"},
      {{"JobName=new", "Partition=debug"}, "-N new -q debug.q"},
      {{"Dependency=afterany:5"}, "-hold_jid 5"},
      {{"Nice=10"}, "-p -210"},
      {{"Nice=0"}, "-p 0"},
      {{"Comment=a b,c"}, "-ac SLURM_COMMENT=a%20b%2Cc"},
      {{"Requeue=0"}, "-r n"},
  };
  for (const auto& [words, want] : cases) {
    const auto change = changed(words);
    ASSERT_TRUE(change) << words[0] << change.error().message;
    EXPECT_EQ(join(change->args, " "), want);
  }
  EXPECT_TRUE(changed({"Priority=0"})->hold);
}

TEST(UpdateJob, what_sbatch_recorded_follows) {
  const auto change = changed({"TimeLimit=30", "Name=new", "Comment=c", "Dependency="});
  ASSERT_TRUE(change);
  EXPECT_EQ(change->record.at("time"), "30");
  EXPECT_EQ(change->record.at("name"), "new");
  EXPECT_EQ(change->record.at("comment"), "c");
  EXPECT_EQ(change->record.at("dep"), "");
}

TEST(UpdateJob, a_name_that_the_engine_refuses_travels_in_the_context) {
  const auto change = changed({"Name=7b"});
  ASSERT_TRUE(change);
  EXPECT_NE(join(change->args, " ").find("-ac SLURM_NAME=7b"), std::string::npos);
}

TEST(UpdateJob, is_refused_honestly) {
  const std::pair<std::string, std::string> cases[] = {
      {"Partition=nosuch", "Invalid partition name specified"},
      {"Nice=-10", "Access/permission denied"},
      {"TimeLimit=-90", "Invalid TimeLimit value"},
      {"TimeLimit=x", "Invalid TimeLimit value"},
      {"NumNodes=2", "Update of this parameter is not supported: NumNodes=2"},
      {"ArrayTaskThrottle=2", "Requested operation not supported on this system"},
      {"Dependency=bogus", "Job dependency problem"},
  };
  for (const auto& [word, text] : cases) {
    const auto change = changed({word});
    ASSERT_FALSE(change) << word;
    EXPECT_EQ(change.error().message, text);
  }
  auto held = waiting();
  held.user_hold = true;
  EXPECT_EQ(changed({"Priority=1"}, held).error().message,
            "Job is in held state, pending scheduler release");
  EXPECT_FALSE(changed({"Dependency=afterok:5"})) << "nobody would judge it";
}

// One predecessor: 5, whose tasks are `tasks`; the job has the array `array`.
JobChange depending(const std::string& text,
                    submit::Predecessor::State state = submit::Predecessor::State::waits,
                    const std::string& tasks = "",
                    const std::string& array = "") {
  auto job = waiting();
  job.name = "x";
  job.array = !array.empty();
  records::SubmitRecord record;
  if (!array.empty()) record.set("array", array);
  submit::EngineFacts engine;
  submit::Predecessor predecessor;
  predecessor.job = 5;
  predecessor.state = state;
  predecessor.start = k_now - 60;
  predecessor.tasks = tasks;
  engine.predecessors = {predecessor};
  engine.own_jobs = {{3, "x"}, {4, "y"}, {7, "x"}, {9, "x"}};
  const auto change = changed({"Dependency=" + text}, job, record, engine);
  EXPECT_TRUE(change) << text << ": " << change.error().message;
  return change.value_or(JobChange{});
}

TEST(UpdateDependency, waits_as_sbatch_would) {
  using State = submit::Predecessor::State;
  const auto args = [](const JobChange& change) { return join(change.args, " "); };
  for (const auto* type : {"afterok", "afternotok", "afterany", "after"}) {
    const auto change = depending(std::string(type) + ":5");
    EXPECT_EQ(args(change), "-hold_jid 5") << type;
    EXPECT_EQ(change.record.at("dep"), std::string(type) + ":5");
    EXPECT_EQ(change.record.at("depgone"), "");
  }
  EXPECT_EQ(args(depending("afterok:5", State::ended)), "-hold_jid  ") << "it is only judged";
  EXPECT_EQ(args(depending("after:5", State::started)), "-hold_jid  ");
  EXPECT_EQ(args(depending("after:5+10", State::started)),
            "-hold_jid   -a " + ge::date_time_argument(k_now + 540));
  EXPECT_EQ(args(depending("singleton")), "-hold_jid 3") << "of that name, and before it";
  EXPECT_EQ(args(depending("singleton,afterok:5")), "-hold_jid 3,5");
  EXPECT_EQ(args(depending("aftercorr:5", State::waits, "1-4:1", "1-4")),
            "-hold_jid   -hold_jid_ad 5");
  EXPECT_EQ(args(depending("aftercorr:5", State::waits, "1-5:1", "1-4")),
            "-hold_jid 5 -hold_jid_ad  ");
  EXPECT_EQ(args(depending("", State::waits, "", "1-4")), "-hold_jid   -hold_jid_ad  ");
  const auto unknown = depending("afterok:5", State::unknown);
  EXPECT_EQ(unknown.record.at("depgone"), "5");
  EXPECT_EQ(unknown.warnings.size(), 1U);
}

TEST(UpdateJob, a_throttle_follows_in_the_record) {
  auto job = waiting();
  job.array = true;
  records::SubmitRecord record;
  record.set("array", "0,3,6,9%2");
  const auto change = changed({"ArrayTaskThrottle=3"}, job, record);
  ASSERT_TRUE(change);
  EXPECT_EQ(join(change->args, " "), "-tc 3");
  EXPECT_EQ(change->record.at("array"), "0,3,6,9%3");
  EXPECT_EQ(changed({"ArrayTaskThrottle=0"}, job, record)->record.at("array"), "0,3,6,9");
}

TEST(UpdateDependency, of_itself_or_of_any_is_refused) {
  records::SubmitRecord record;
  EXPECT_EQ(changed({"Dependency=afterany:7"}, waiting(), record).error().message,
            "Job dependency problem");
  EXPECT_EQ(changed({"Dependency=afterok:5?afterok:6"}, waiting(), record).error().message,
            "Dependency=afterok:5?afterok:6: jobs joined by '?' cannot be waited for, not "
            "supported by slurm-shim");
}

} // namespace
} // namespace shim::commands::scontrol
