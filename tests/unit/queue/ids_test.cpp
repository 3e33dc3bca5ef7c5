#include "slurm_shim/queue/queue.h"
#include "slurm_shim/queue/targets.h"

#include <gtest/gtest.h>

namespace shim::queue {
namespace {

Job element(std::uint64_t job, std::uint32_t task, std::uint32_t index) {
  Job line;
  line.job = job;
  line.tasks = {task};
  line.indices = {index};
  line.id = slurm::element_job_id(job, task - 1);
  return line;
}

Job waiting(std::uint64_t job, std::vector<std::uint32_t> indices) {
  Job line;
  line.job = line.id = job;
  line.indices = std::move(indices);
  for (std::uint32_t task = 1; task <= line.indices.size(); ++task)
    line.tasks.push_back(task);
  line.together = true;
  return line;
}

bool matched(const std::string& text, const Job& job) {
  const auto ref = slurm::parse_job_id(text);
  EXPECT_TRUE(ref) << text;
  return ref && matches(*ref, job);
}

TEST(QueueIds, NamesJobsAsSlurmDoes) {
  Job job;
  job.job = job.id = 7;
  EXPECT_EQ(display_id(job), "7");
  EXPECT_EQ(display_index(job), "N/A");
  EXPECT_EQ(display_id(element(7, 1, 0)), "7_0");
  auto together = waiting(7, {2, 3, 4, 5});
  EXPECT_EQ(display_id(together), "7_[2-5]");
  together.throttle = 2;
  EXPECT_EQ(display_id(together), "7_[2-5%2]");
  EXPECT_EQ(display_index(together), "2-5%2");
  EXPECT_EQ(display_id(waiting(70011, {0, 3, 6, 9})), "70011_[0,3,6,9]");
  std::vector<std::uint32_t> many;
  for (std::uint32_t i = 0; i < 60; i += 2)
    many.push_back(i);
  EXPECT_EQ(display_id(waiting(70011, many)).size(), 31U);
}

TEST(QueueIds, ShowsAsMuchOfALongArrayAsIsAskedFor) {
  // vectors/10: scontrol's ArrayTaskId of the longest array there
  std::vector<std::uint32_t> many{1, 3, 5};
  for (std::uint32_t i = 7; i <= 20; ++i)
    many.push_back(i);
  for (std::uint32_t i = 30; i <= 40; i += 2)
    many.push_back(i);
  for (std::uint32_t i = 50; i <= 74; i += 2)
    many.push_back(i);
  auto job = waiting(70023, many);
  const std::string shown = "1,3,5,7-20,30,32,34,36,38,40,50,52,54,56,58,60,62,64,66,68,7...";
  EXPECT_EQ(display_index(job), shown);
  job.throttle = 2;
  EXPECT_EQ(display_index(job), shown + "%2");
  const std::string all = "1,3,5,7-20,30,32,34,36,38,40,50,52,54,56,58,60,62,64,66,68,70,72,74%2";
  EnvList env;
  EXPECT_EQ(array_width(env), ArrayWidth{});
  for (const auto* bad : {"", "x", "-1", "7x"}) {
    env.set("SLURM_BITSTR_LEN", bad);
    EXPECT_EQ(array_width(env), ArrayWidth{}) << bad;
  }
  env.set("SLURM_BITSTR_LEN", "0");
  EXPECT_EQ(display_index(job, array_width(env)), all);
  EXPECT_EQ(display_id(job, array_width(env)), "70023_[" + all + "]");
  env.set("SLURM_BITSTR_LEN", "12");
  EXPECT_EQ(display_id(job, array_width(env)), "70023_[1,3,5,7-...%2]");
  env.set("SLURM_BITSTR_LEN", "3");
  EXPECT_EQ(display_index(job, array_width(env)), "..%2");
}

TEST(QueueIds, FindsJobsByAnyOfTheirNames) {
  const auto third = element(7, 3, 12);
  EXPECT_TRUE(matched("7", third));
  EXPECT_TRUE(matched("7_12", third));
  EXPECT_TRUE(matched("7_[10-20]", third));
  EXPECT_TRUE(matched(std::to_string(third.id), third));
  EXPECT_FALSE(matched("7_3", third));
  EXPECT_FALSE(matched("8", third));
  EXPECT_FALSE(matched(std::to_string(slurm::element_job_id(7, 0)), third));
  EXPECT_TRUE(matched("7_5", waiting(7, {4, 5})));
  EXPECT_FALSE(matched("7_6", waiting(7, {4, 5})));
  // An own id is that of one element, not of all that wait.
  EXPECT_TRUE(matched(std::to_string(slurm::element_job_id(7, 1)), waiting(7, {4, 5})));
  EXPECT_FALSE(matched(std::to_string(slurm::element_job_id(7, 2)), waiting(7, {4, 5})));
}

TEST(QueueIds, SplitsListsOutsideOfBrackets) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(split_ids("7"), Words{"7"});
  EXPECT_EQ(split_ids("7,8_3,9_[1,3-4],10"), (Words{"7", "8_3", "9_[1,3-4]", "10"}));
  EXPECT_EQ(split_ids("7,"), (Words{"7", ""}));
}

TEST(QueueIds, SpeaksOfTasksToTheEngine) {
  using Words = std::vector<std::string>;
  Job job;
  job.job = 7;
  EXPECT_EQ(engine_names(job), Words{"7"});
  EXPECT_FALSE(record_key(job).task);
  EXPECT_EQ(engine_names(waiting(7, {10, 20})), (Words{"7.1", "7.2"}));
  EXPECT_EQ(engine_names(element(7, 3, 12)), Words{"7.3"});
  EXPECT_EQ(record_key(element(7, 3, 12)).task, 3U);
}

TEST(Clusters, ThereIsOne) {
  EnvList env;
  env.set("SGE_CELL", "c1");
  EXPECT_TRUE(check_clusters("", env));
  EXPECT_TRUE(check_clusters("c1", env));
  EXPECT_TRUE(check_clusters("all", env));
  env.set("SGE_CLUSTER_NAME", "p6444");
  const auto other = check_clusters("all,c2", env);
  ASSERT_FALSE(other);
  EXPECT_TRUE(other.error().message.starts_with("'c2' can't be reached now"));
}

} // namespace
} // namespace shim::queue
