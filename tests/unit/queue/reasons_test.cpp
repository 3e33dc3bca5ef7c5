#include "slurm_shim/queue/queue.h"
#include "slurm_shim/records/job_record.h"
#include "slurm_shim/records/submit_file.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "support/fake_engine.h"

namespace shim::queue {
namespace {

constexpr std::int64_t k_now = 1796003000;

// One partition "p" of queue batch.q, two hosts of 8 slots; jobs of the caller.
class QueueReasons : public ::testing::Test {
protected:
  void SetUp() override {
    config::Partition partition;
    partition.name = "p";
    partition.queue = "batch.q";
    partition.max_time_min = 30;
    partition.slots_per_node = 8;
    m_config.partitions = {partition};
    ASSERT_TRUE(records::make_state_folders(m_state));
    summary(16, 0);
  }
  void summary(int total, int out_of_service) {
    m_engine.answer(
        "qstat -g c -xml",
        {0,
         fmt::format("<?xml version='1.0'?><job_info><cluster_queue_summary><name>batch.q</name>"
                     "<used>0</used><total>{}</total><manual_intervention>{}</manual_intervention>"
                     "</cluster_queue_summary></job_info>\n",
                     total,
                     out_of_service),
         ""});
  }
  void instances(const std::string& first, const std::string& second) {
    std::string hosts;
    for (const auto& letters : {first, second})
      hosts += "<host name='n" + letters +
               "'><queue name='batch.q'><queuevalue qname='batch.q' "
               "name='state_string'>" +
               letters + "</queuevalue></queue></host>";
    m_engine.answer("qhost", {0, "<?xml version='1.0'?><qhost>" + hosts + "</qhost>\n", ""});
  }
  void submitted(std::int64_t job, records::SubmitRecord record) {
    record.set("tok", tok(job));
    record.set("dir", m_state.root());
    record.set("name", "x");
    records::SubmitFile file;
    file.tok = tok(job);
    file.job = job;
    file.req = record.encode();
    ASSERT_TRUE(records::write_submit_file(m_state, file));
  }
  void ended(std::int64_t job, int code) {
    submitted(job, {});
    const auto text =
        fmt::format(R"({{"v":1,"tok":"{0}","run":0,"t":1,"ev":"start","job":{1},"task":null,)"
                    R"("slurm_id":{1},"host":"n","hosts":"n","nodes":1,"ntasks":1,"cpus":1,)"
                    R"("pid":1,"out":"/dev/null","err":"/dev/null"}})"
                    "\n"
                    R"({{"v":1,"tok":"{0}","run":0,"t":2,"ev":"end","reason":"exit",)"
                    R"("code":{2},"sig":0}})"
                    "\n",
                    tok(job),
                    job,
                    code);
    ASSERT_TRUE(posix::write_file_atomic(m_state.job_record({job, std::nullopt}), text));
  }
  static std::string tok(std::int64_t job) { return fmt::format("{:016x}", job); }

  std::string reason(const std::string& state = "qw", int slots = 1, bool partitions = true) {
    return job(state, slots, partitions).reason;
  }
  std::string dependency(const std::string& state = "qw") { return job(state).dependency; }

  Job job(const std::string& state, int slots = 1, bool partitions = true) {
    m_engine.answer(
        "qstat -xml -r -u",
        {0,
         fmt::format("<?xml version='1.0'?><job_info><queue_info/><job_info><job_list "
                     "state=\"{}\"><JB_job_number>7</JB_job_number><JAT_prio>0.5</JAT_prio>"
                     "<JB_name>x</JB_name><JB_owner>alice</JB_owner><state>{}</state><slots>{}"
                     "</slots>{}<hard_req_queue>batch.q</hard_req_queue></job_list></job_info>"
                     "</job_info>\n",
                     m_running ? "running" : "pending",
                     state,
                     slots,
                     m_predecessor),
         ""});
    m_engine.answer(
        "qstat -xml -j",
        {0, "<?xml version='1.0'?><detailed_job_info><djob_info/></detailed_job_info>", ""});
    const auto jobs = load({m_tools, m_config, m_state, k_now},
                           {.users = {}, .jobs = {}, .partitions = partitions});
    EXPECT_TRUE(jobs) << jobs.error().message;
    return jobs && jobs->size() == 1 ? jobs->front() : Job{};
  }

  std::string m_predecessor; // an element of the row
  bool m_running = false;
  EnvList m_env;
  test::FakeEngine m_engine{m_env};
  test::TempDir m_folder;
  records::StatePaths m_state{m_folder / "state"};
  config::Config m_config;
  ge::Tools m_tools{m_engine, m_env, std::chrono::seconds(5)};
};

records::SubmitRecord with(const std::string& key, const std::string& value) {
  records::SubmitRecord record;
  record.set(key, value);
  return record;
}

TEST_F(QueueReasons, APartitionWhoseHostsAreAllOutOfServiceIsNamed) {
  EXPECT_EQ(reason(), "Resources");
  summary(16, 8);
  EXPECT_EQ(reason(), "Resources") << "one host is left";
  summary(16, 16);
  instances("d", "du");
  EXPECT_EQ(reason(), "PartitionDown");
  instances("d", "au");
  EXPECT_EQ(reason(),
            "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority "
            "partitions");
  EXPECT_EQ(reason("qw", 1, false), "Resources") << "nobody asked";
  EXPECT_EQ(reason("hqw"), "JobHeldUser");
}

TEST_F(QueueReasons, NothingIsSaidOfPartitionsThatTheEngineDoesNotTellOf) {
  for (const auto* text : {"", "error: commlib", "<?xml version='1.0'?><job_info>"}) {
    m_engine.answer("qstat -g c -xml", {0, text, ""});
    EXPECT_EQ(reason(), "Resources");
  }
  m_engine.answer("qstat -g c -xml", {1, "", "error"});
  EXPECT_EQ(reason(), "Resources");
  summary(0, 0);
  EXPECT_EQ(reason(), "Resources");
}

TEST_F(QueueReasons, LimitsOfThePartition) {
  submitted(7, with("time", "31"));
  EXPECT_EQ(reason(), "PartitionTimeLimit");
  submitted(7, with("time", "30"));
  EXPECT_EQ(reason(), "Resources");
  submitted(7, with("nodes", "3"));
  EXPECT_EQ(reason(), "PartitionNodeLimit");
  submitted(7, with("nodes", "2"));
  EXPECT_EQ(reason(), "Resources");
}

TEST_F(QueueReasons, AJobWhosePredecessorEndedAsItMustNotWaitsInVain) {
  ended(5, 3);
  ended(6, 0);
  m_predecessor = "<predecessor_jobs>4</predecessor_jobs>";
  submitted(7, with("dep", "afterok:6,afterok:4"));
  EXPECT_EQ(reason("hqw"), "Dependency");
  EXPECT_EQ(reason(), "Resources");
  submitted(7, with("dep", "afterok:5,afterok:4"));
  EXPECT_EQ(reason("hqw"), "DependencyNeverSatisfied");
  EXPECT_EQ(reason(), "DependencyNeverSatisfied");
  submitted(7, with("dep", "afternotok:5,afternotok:6"));
  EXPECT_EQ(reason(), "DependencyNeverSatisfied");
  submitted(7, with("dep", "afternotok:5"));
  EXPECT_EQ(reason(), "Resources");
  submitted(7, with("dep", "afterok:4"));
  EXPECT_EQ(reason(), "Resources") << "nothing is known of 4";
  m_config.afterok_check = false;
  submitted(7, with("dep", "afterok:5"));
  EXPECT_EQ(reason(), "Resources");
}

// vectors/13 life.hold_running, life.requeuehold
TEST_F(QueueReasons, HoldsOfJobsThatRunOrRanAreTold) {
  EXPECT_EQ(reason("hRq"), "job requeued in held state");
  EXPECT_EQ(reason("Rq"), "Resources");
  m_running = true;
  EXPECT_EQ(reason("hr"), "JobHeldUser");
  EXPECT_EQ(reason("hRr"), "JobHeldUser");
  EXPECT_EQ(reason("r"), "None");
}

// vectors/13 life.dep.*: "(null)" once it is fulfilled, "(failed)" when it cannot be.
TEST_F(QueueReasons, OfADependencyOnlyWhatIsOpenIsShown) {
  ended(5, 3);
  ended(6, 0);
  submitted(7, with("dep", "afterok:6,afterany:4,after:3+2"));
  m_predecessor = "<predecessor_jobs>4</predecessor_jobs>";
  EXPECT_EQ(dependency("hqw"), "afterany:4(unfulfilled)");
  m_predecessor = "<predecessor_jobs>3</predecessor_jobs><predecessor_jobs>6</predecessor_jobs>";
  EXPECT_EQ(dependency("hqw"), "afterok:6(unfulfilled),after:3+2(unfulfilled)");
  m_predecessor.clear();
  EXPECT_EQ(dependency(), "");
  auto later = with("dep", "after:3+2,afterok:6");
  later.set("begin", std::to_string(k_now + 60));
  submitted(7, later);
  EXPECT_EQ(dependency(), "after:3+2(unfulfilled)") << "the delay is not over";
  submitted(7, with("dep", "afterok:6,afterok:5,afternotok:6"));
  EXPECT_EQ(dependency(), "afterok:5(failed),afternotok:6(failed)");
  submitted(7, with("dep", "afterok:5?afterany:5"));
  EXPECT_EQ(dependency(), "") << "one is enough";
  m_predecessor = "<predecessor_jobs>5</predecessor_jobs>";
  EXPECT_EQ(dependency("hqw"), "afterok:5(unfulfilled)?afterany:5(unfulfilled)");
  submitted(7, with("dep", "singleton"));
  EXPECT_EQ(dependency("hqw"), "singleton(unfulfilled)");
  m_predecessor = "<ad_predecessor_jobs_req>9</ad_predecessor_jobs_req>"
                  "<ad_predecessor_jobs>9</ad_predecessor_jobs>";
  submitted(7, with("dep", "aftercorr:9"));
  EXPECT_EQ(dependency("hqw"), "aftercorr:9(unfulfilled)");
  EXPECT_EQ(reason("hqw"), "Dependency");
  m_config.afterok_check = false;
  m_predecessor.clear();
  submitted(7, with("dep", "afterok:5"));
  EXPECT_EQ(dependency(), "");
}

} // namespace
} // namespace shim::queue
