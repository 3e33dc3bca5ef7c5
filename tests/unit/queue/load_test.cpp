#include "slurm_shim/queue/queue.h"
#include "slurm_shim/records/submit_record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "support/fake_engine.h"

namespace shim::queue {
namespace {

using slurm::JobState;
using Numbers = std::vector<std::uint32_t>;

class QueueLoad : public ::testing::Test {
protected:
  void SetUp() override {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
  // The cluster of the 8.1.9 captures: `qstat -j` knows 43 to 45, 48 and 49, each as captured.
  void old_cluster() {
    m_engine.answer_file("qstat -xml -r -u", "8.1.9/qstat-r-xml-states.stdout");
    m_engine.answer_file("qstat -xml -r -g t", "8.1.9/qstat-gt-xml.stdout");
    m_engine.answer_file("qstat -xml -j", "8.1.9/qstat-j-missing-xml.stdout", 1);
  }
  Result<std::vector<Job>> load_all(const Request& request = {}) {
    return load({m_tools, m_config, std::nullopt, 1796003000}, request);
  }
  std::vector<Job> jobs(const Request& request = {}) {
    auto loaded = load_all(request);
    EXPECT_TRUE(loaded) << loaded.error().message;
    return loaded.value_or(std::vector<Job>{});
  }
  EnvList m_env;
  test::FakeEngine m_engine{m_env};
  config::Config m_config;
  ge::Tools m_tools{m_engine, m_env, std::chrono::seconds(5)};
};

Request about(std::uint64_t job, bool split_arrays = false, bool facts = false) {
  return {.users = {}, .jobs = {job}, .split_arrays = split_arrays, .facts = facts};
}

config::Partition partition(const std::string& name) {
  config::Partition made;
  made.name = name;
  made.queue = "batch.q";
  return made;
}

std::vector<std::string> ids_of(const std::vector<Job>& jobs) {
  std::vector<std::string> ids;
  for (const auto& job : jobs)
    ids.push_back(display_id(job));
  return ids;
}

Job job_of(const std::vector<Job>& jobs, const std::string& id) {
  for (const auto& job : jobs)
    if (display_id(job) == id) return job;
  ADD_FAILURE() << "no line for " << id;
  return {};
}

TEST_F(QueueLoad, ShowsEveryStateOf819) {
  old_cluster();
  const auto all = jobs();
  EXPECT_EQ(ids_of(all),
            (std::vector<std::string>{
                "43", "44", "45_1", "45_2", "50", "46", "49", "45_[3-4]", "47", "48"}));
  const auto runner = job_of(all, "43");
  EXPECT_EQ(runner.state, JobState::running);
  EXPECT_EQ(runner.reason, "None");
  EXPECT_EQ(runner.partition, "batch.q");
  EXPECT_EQ(runner.limit_min, 60U);
  EXPECT_EQ(runner.end(), runner.start + 3600);
  EXPECT_EQ(runner.hosts, std::vector<std::string>{"gedeb-master"});
  EXPECT_EQ(job_of(all, "50").state, JobState::suspended);
  EXPECT_EQ(job_of(all, "50").reason, "None");
  EXPECT_EQ(job_of(all, "50").hosts, std::vector<std::string>{"gedeb-n2"});
  EXPECT_EQ(job_of(all, "47").reason, "JobHeldUser");
  EXPECT_EQ(job_of(all, "48").reason, "Dependency");
  EXPECT_EQ(job_of(all, "48").dependency, "afterany:43(unfulfilled)");
  const auto error = job_of(all, "49");
  EXPECT_EQ(error.state, JobState::pending);
  EXPECT_EQ(error.reason, "launch failed requeued held");
  EXPECT_EQ(error.limit_min, slurm::k_unlimited_minutes);
  EXPECT_EQ(error.end(), 0);
}

TEST_F(QueueLoad, PutsTheBatchHostFirst) {
  old_cluster();
  const auto old = job_of(jobs(), "44");
  EXPECT_EQ(old.hosts, (std::vector<std::string>{"gedeb-master", "gedeb-n1", "gedeb-n2"}));
  EXPECT_EQ(old.nodes, 3);
  EXPECT_EQ(old.cpus, 6);
  m_engine.answer_file("qstat -xml -r -u", "9.1.5/running-pe.qstat-r.xml");
  m_engine.answer_file("qstat -xml -r -g t", "9.1.5/running-pe.qstat-gt.xml");
  const auto ocs = job_of(jobs(), "64");
  EXPECT_EQ(ocs.hosts, (std::vector<std::string>{"ocs-worker1", "ocs-master", "ocs-worker2"}));
  EXPECT_EQ(ocs.cpus, 5);
  EXPECT_EQ(ocs.partition, "all.q");
}

TEST_F(QueueLoad, KeepsPendingElementsTogetherUntilAskedToSplit) {
  old_cluster();
  m_engine.answer_file("qstat -xml -j 45", "8.1.9/qstat-j-array-xml.stdout");
  const auto all = jobs(about(45));
  EXPECT_EQ(ids_of(all), (std::vector<std::string>{"45_1", "45_2", "45_[3-4%2]"}));
  EXPECT_EQ(all[0].id, slurm::element_job_id(45, 0));
  EXPECT_EQ(all[1].id, slurm::element_job_id(45, 1));
  EXPECT_EQ(all[2].id, 45U);
  EXPECT_EQ(all[2].tasks, (Numbers{3, 4}));
  EXPECT_EQ(all[2].reason, "JobArrayTaskLimit") << "two run and two may";
  EXPECT_EQ(display_index(all[2]), "3-4%2");
  const auto split = jobs(about(45, true));
  EXPECT_EQ(ids_of(split), (std::vector<std::string>{"45_1", "45_2", "45_3", "45_4"}));
  EXPECT_EQ(split[3].id, slurm::element_job_id(45, 3));
  EXPECT_EQ(split[3].state, JobState::pending);
  m_config.array_job_ids = "shared";
  EXPECT_EQ(jobs(about(45)).at(0).id, 45U);
}

TEST_F(QueueLoad, SaysWhoHoldsAJob) {
  const auto reason = [&](const std::string& fixture, const std::string& number) {
    m_engine.answer("qstat -xml -r -u",
                    {0,
                     "<?xml version='1.0'?><job_info><queue_info/><job_info><job_list "
                     "state=\"pending\"><JB_job_number>" +
                         number +
                         "</JB_job_number><JB_name>x</JB_name><JB_owner>alice</JB_owner>"
                         "<state>hqw</state><queue_name></queue_name><slots>1</slots>"
                         "</job_list></job_info></job_info>\n",
                     ""});
    m_engine.answer_file("qstat -xml -j", fixture);
    return job_of(jobs(), number).reason;
  };
  EXPECT_EQ(reason("9.1.5/held-user.qstat-j.xml", "286"), "JobHeldUser");
  EXPECT_EQ(reason("9.1.5/held-system.qstat-j.xml", "293"), "JobHeldAdmin");
  EXPECT_EQ(reason("8.1.9/qstat-j-dependent-xml.stdout", "48"), "Dependency");
}

TEST_F(QueueLoad, TellsWaitingForATimeFromWaitingForRoom) {
  m_engine.answer("qstat -xml -r -u",
                  {0,
                   "<?xml version='1.0'?><job_info><queue_info/><job_info>"
                   "<job_list state=\"pending\"><JB_job_number>292</JB_job_number><state>qw</state>"
                   "</job_list><job_list state=\"pending\"><JB_job_number>285</JB_job_number>"
                   "<state>qw</state></job_list><job_list state=\"pending\"><JB_job_number>301"
                   "</JB_job_number><state>qw</state></job_list></job_info></job_info>\n",
                   ""});
  auto facts = posix::read_file(SHIM_TEST_DATA "/fixtures/9.1.5/waiting-a.qstat-j.xml");
  ASSERT_TRUE(facts);
  m_engine.answer("qstat -xml -j", {0, *facts, ""});
  const auto all = jobs();
  EXPECT_EQ(job_of(all, "292").reason, "BeginTime");
  EXPECT_EQ(job_of(all, "292").begin, 1893456000);
  EXPECT_EQ(job_of(all, "285").reason, "Resources");
  EXPECT_EQ(job_of(all, "301").reason, "Priority");
}

TEST_F(QueueLoad, FactsFillInWhatTheListLacks) {
  old_cluster();
  m_engine.answer_file("qstat -xml -j 43", "8.1.9/qstat-j-running-xml.stdout");
  const auto job = job_of(jobs(about(43, false, true)), "43");
  EXPECT_EQ(job.user, "user1");
  EXPECT_TRUE(job.uid.has_value());
  EXPECT_FALSE(job.group.empty());
  EXPECT_FALSE(job.command.empty());
  EXPECT_EQ(job.account, "") << "the engine's default account is no account";
}

TEST_F(QueueLoad, TheSubmitRecordOfAJobIsBelieved) {
  old_cluster();
  auto facts = posix::read_file(SHIM_TEST_DATA "/fixtures/8.1.9/qstat-j-running-xml.stdout");
  ASSERT_TRUE(facts);
  const std::string list = "<JB_env_list>";
  const auto at = facts->find(list);
  ASSERT_NE(at, std::string::npos);
  records::SubmitRecord record;
  record.set("tok", "0123456789abcdef");
  record.set("dir", "/d");
  record.set("name", "a b");
  record.set("part", "short");
  record.set("nodes", "1");
  record.set("ntasks", "2");
  record.set("cpt", "3");
  record.set("time", "90");
  record.set("out", "/o/%j.out");
  record.set("wd", "/not/there/yet");
  facts->insert(at + list.size(),
                "<element><VA_variable>SLURM_SHIM_REQ</VA_variable><VA_value>" + record.encode() +
                    "</VA_value></element>");
  m_engine.answer("qstat -xml -j 43", {0, *facts, ""});
  m_config.partitions = {partition("long"), partition("short")};
  const auto job = job_of(jobs(about(43, false, true)), "43");
  EXPECT_EQ(job.name, "a b");
  EXPECT_EQ(job.partition, "short");
  EXPECT_EQ(job.ntasks, 2);
  EXPECT_EQ(job.cpus_per_task, 3);
  EXPECT_EQ(job.limit_min, 90U);
  EXPECT_EQ(job.output, "/o/%j.out");
  EXPECT_EQ(job.error, "/o/%j.out");
  EXPECT_EQ(job.work_dir, "/not/there/yet");
}

TEST_F(QueueLoad, AnUnknownJobIsAnEmptyListAndAsksNoMore) {
  m_engine.answer("qstat -xml -r -u",
                  {0, "<?xml version='1.0'?><job_info><queue_info/><job_info/></job_info>\n", ""});
  EXPECT_TRUE(jobs(about(99999)).empty());
  EXPECT_EQ(m_engine.calls, std::vector<std::string>{"qstat -xml -r -u *"});
}

TEST_F(QueueLoad, AFailedQuestionIsNeverAnEmptyQueue) {
  auto failed = load_all();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::unavailable);
  const std::string error = "error: commlib error: got select error (Connection refused)\n";
  m_engine.answer("qstat", {1, "", error});
  failed = load_all();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message,
            "qstat: error: commlib error: got select error (Connection refused)");
  // The list is there, but one of the later questions fails.
  old_cluster();
  m_engine.answer("qstat -xml -r -g t", {1, "", error});
  EXPECT_FALSE(load_all());
  old_cluster();
  m_engine.answer("qstat -xml -j", {1, "", error});
  EXPECT_FALSE(load_all());
  auto cut = posix::read_file(SHIM_TEST_DATA "/fixtures/8.1.9/qstat-r-xml-states.stdout");
  ASSERT_TRUE(cut);
  m_engine.answer("qstat -xml -r -u", {0, cut->substr(0, cut->size() / 2), ""});
  failed = load_all();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::malformed);
}

TEST_F(QueueLoad, AsksForTheUsersNamed) {
  old_cluster();
  EXPECT_FALSE(jobs({.users = {"alice", "user1"}, .jobs = {}}).empty());
  EXPECT_EQ(m_engine.calls.at(0), "qstat -xml -r -u alice,user1");
  EXPECT_EQ(m_engine.calls.at(1), "qstat -xml -r -g t -s rs -u alice,user1");
}

} // namespace
} // namespace shim::queue
