#include "slurm_shim/base/yaml.h"
#include "slurm_shim/queue/document.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace shim::queue {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t k_now = 1796003000;

Job running() {
  Job job;
  job.job = job.id = 7;
  job.state = slurm::JobState::running;
  job.name = "train-0";
  job.user = "alice";
  job.command = "/home/alice/a.sh";
  job.work_dir = "/home/alice";
  job.output = "slurm-%j.out";
  job.hosts = {"n1", "n2"};
  job.nodes = 2;
  job.cpus = 5;
  job.start = k_now - 60;
  job.limit_min = 10;
  job.slot_memory_mib = 100;
  return job;
}

Json document(const std::vector<Job>& jobs) {
  std::vector<const Job*> order;
  for (const auto& job : jobs)
    order.push_back(&job);
  const auto text = jobs_document(order, {"24.05.0", "alice", {"squeue", "--json"}, "c1", k_now});
  EXPECT_TRUE(text.ends_with("}\n"));
  return Json::parse(text);
}

TEST(JobsDocument, HasWhatClientsRead) {
  const auto all = document({running()});
  EXPECT_TRUE(all.at("errors").empty());
  EXPECT_EQ(all.at("meta").at("slurm").at("version").at("major"), "24");
  const auto& job = all.at("jobs").at(0);
  EXPECT_EQ(job.at("job_id"), 7);
  EXPECT_EQ(job.at("job_state"), Json::array({"RUNNING"}));
  EXPECT_EQ(job.at("command"), "/home/alice/a.sh");
  EXPECT_EQ(job.at("current_working_directory"), "/home/alice");
  EXPECT_EQ(job.at("standard_output"), "/home/alice/slurm-7.out");
  EXPECT_EQ(job.at("nodes"), "n[1-2]");
  EXPECT_EQ(job.at("start_time").at("number"), k_now - 60);
  EXPECT_EQ(job.at("end_time").at("number"), k_now + 540);
  EXPECT_EQ(job.at("time_limit"), Json::parse(R"({"set":true,"infinite":false,"number":10})"));
  EXPECT_EQ(job.at("het_job_id").at("number"), 0);
  EXPECT_EQ(job.at("array_task_id").at("set"), false);
  const auto& nodes = job.at("job_resources").at("nodes").at("allocation");
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].at("name"), "n1");
  EXPECT_EQ(nodes[0].at("cpus").at("used"), 3);
  EXPECT_EQ(nodes[1].at("cpus").at("used"), 2);
  EXPECT_EQ(nodes[1].at("memory").at("allocated"), 200);
}

TEST(JobsDocument, PendingJobsHaveNoResources) {
  auto job = running();
  job.state = slurm::JobState::pending;
  job.hosts.clear();
  job.start = 0;
  job.limit_min = slurm::k_unlimited_minutes;
  job.reason = "JobHeldUser";
  job.tasks = job.indices = {2, 3};
  job.together = true;
  job.throttle = 2;
  const auto shown = document({job}).at("jobs").at(0);
  EXPECT_TRUE(shown.at("job_resources").is_null());
  EXPECT_EQ(shown.at("nodes"), "");
  EXPECT_EQ(shown.at("state_reason"), "JobHeldUser");
  EXPECT_EQ(shown.at("hold"), true);
  EXPECT_EQ(shown.at("time_limit").at("infinite"), true);
  EXPECT_EQ(shown.at("array_job_id").at("number"), 7);
  EXPECT_EQ(shown.at("array_task_string"), "2-3%2");
}

TEST(JobsDocument, OddBytesNeverBreakIt) {
  auto job = running();
  job.name = "a\xff\"b\n";
  EXPECT_EQ(document({job}).at("jobs").at(0).at("name"), "a\xef\xbf\xbd\"b\n");
  EXPECT_TRUE(document({}).at("jobs").empty());
}

} // namespace
} // namespace shim::queue
