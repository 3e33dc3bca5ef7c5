#include "slurm_shim/posix/files.h"
#include "slurm_shim/records/job_record.h"

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace shim::records {
namespace {

constexpr std::int64_t k_t0 = 1796002951204;

class JobRecordTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(make_state_folders(state));
    job.tok = "9f3c21d07be84a55";
    job.job = 4711;
    job.slurm_id = 4711;
    job.dir = dir.path();
    job.wd = "/w";
  }
  [[nodiscard]] std::string text() const {
    return posix::read_file(state.job_record(job.key())).value_or("");
  }
  [[nodiscard]] StartEvent start(std::int64_t t_ms) const {
    StartEvent event;
    event.t_ms = t_ms;
    event.job = job.job;
    event.slurm_id = job.slurm_id;
    event.host = "n1";
    event.hosts = "n[1-3]";
    event.nodes = 3;
    event.ntasks = 6;
    event.cpus = 6;
    event.pid = 77;
    event.out = event.err = "/w/slurm-4711.out";
    return event;
  }

  test::TempDir dir;
  StatePaths state{dir.path()};
  BatchJob job;
};

TEST_F(JobRecordTest, lines_are_as_the_format_says) {
  const JobRecordWriter writer(job);
  ASSERT_TRUE(writer.start(start(k_t0)));
  ASSERT_TRUE(writer.step_end({k_t0, 0, 3, 0, 3, "exit"}));
  ASSERT_TRUE(writer.end({k_t0 + 1000, 100, 0, "exit"}));
  EXPECT_EQ(
      text(),
      R"({"v":1,"tok":"9f3c21d07be84a55","t":1796002951.204,"run":0,"ev":"start","job":4711,)"
      R"("task":null,"slurm_id":4711,"host":"n1","hosts":"n[1-3]","nodes":3,"ntasks":6,"cpus":6,)"
      R"("pid":77,"out":"/w/slurm-4711.out","err":"/w/slurm-4711.out"})"
      "\n"
      R"({"v":1,"tok":"9f3c21d07be84a55","t":1796002951.204,"run":0,"ev":"step_end","step":0,)"
      R"("code":3,"sig":0,"max_code":3,"reason":"exit"})"
      "\n"
      R"({"v":1,"tok":"9f3c21d07be84a55","t":1796002952.204,"run":0,"ev":"end","code":100,)"
      R"("sig":0,"reason":"exit"})"
      "\n");
}

TEST_F(JobRecordTest, a_whole_run_comes_back) {
  const JobRecordWriter writer(job);
  ASSERT_TRUE(writer.start(start(k_t0)));
  ASSERT_TRUE(writer.step_start({k_t0 + 5, 0, "a.out", "./a.out", "n[1-2]", 2, 4, 4}));
  ASSERT_TRUE(writer.step_start({k_t0 + 6, 1, "b", "b", "n3", 1, 1, 1}));
  ASSERT_TRUE(writer.request({k_t0 + 7, "00112233445566aa", "signal", 0, ""}));
  ASSERT_TRUE(writer.step_end({k_t0 + 8, 0, 137, 9, 137, "cancel"}));
  ASSERT_TRUE(writer.ending({k_t0 + 8, 12, "notify"}));
  ASSERT_TRUE(writer.end({k_t0 + 9, 1, 0, "exit"}));
  const auto record = read_job_record(state, job.key(), k_t0 / 1000 + 299);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->start.hosts, "n[1-3]");
  ASSERT_EQ(record->steps.size(), 2U);
  EXPECT_EQ(record->steps[0].start.cmd, "./a.out");
  ASSERT_TRUE(record->steps[0].end);
  EXPECT_EQ(record->steps[0].end->sig, 9);
  EXPECT_FALSE(record->steps[1].end); // ended with the job
  ASSERT_TRUE(record->ending);
  EXPECT_EQ(record->ending->reason, "notify");
  EXPECT_EQ(record->ending->sig, 12);
  ASSERT_TRUE(record->end);
  EXPECT_EQ(record->end->t_ms, k_t0 + 9);
  const auto answer = find_answer(text(), "00112233445566aa");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->rc, 0);
  EXPECT_FALSE(find_answer(text(), "ffffffffffffffff"));
}

TEST_F(JobRecordTest, the_highest_run_is_the_present_one) {
  const JobRecordWriter first(job);
  ASSERT_TRUE(first.start(start(k_t0)));
  ASSERT_TRUE(first.end({k_t0 + 1, 99, 0, "requeue"}));
  EXPECT_EQ(count_starts(state, job.key(), job.tok), 1);
  job.restart = 1;
  const JobRecordWriter second(job);
  ASSERT_TRUE(second.start(start(k_t0 + 60000)));
  ASSERT_TRUE(first.step_end({k_t0 + 2, 0, 0, 0, 0, "exit"})); // late line of the first run
  const auto record = parse_job_record(text(), std::nullopt);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->run, 1);
  EXPECT_EQ(record->start.t_ms, k_t0 + 60000);
  EXPECT_FALSE(record->end);
  EXPECT_EQ(count_starts(state, job.key(), job.tok), 2);
  EXPECT_EQ(count_starts(state, job.key(), "0000000000000000"), 0);
}

TEST_F(JobRecordTest, a_job_number_used_again_is_another_job) {
  const JobRecordWriter old(job);
  ASSERT_TRUE(old.start(start(k_t0)));
  EXPECT_FALSE(parse_job_record(text(), k_t0 / 1000 + 302));
  job.tok = "00000000000000aa";
  const JobRecordWriter young(job);
  ASSERT_TRUE(young.start(start(k_t0 + 900000)));
  ASSERT_TRUE(old.end({k_t0 + 900001, 0, 0, "exit"}));
  const auto record = parse_job_record(text(), (k_t0 + 900000) / 1000);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->tok, job.tok);
  EXPECT_FALSE(record->end);
}

TEST_F(JobRecordTest, torn_and_foreign_lines_are_skipped) {
  const JobRecordWriter writer(job);
  ASSERT_TRUE(writer.start(start(k_t0)));
  const auto good = text();
  const std::string noise = "\n{\"v\":1,\"tok\n[]\n{\"v\":2,\"tok\":\"9f3c21d07be84a55\",\"t\":1,"
                            "\"ev\":\"end\"}\n{\"v\":1,\"tok\":\"9f3c21d07be84a55\",\"t\":-1,"
                            "\"ev\":\"end\"}\n\xff\xff\n";
  const auto record =
      parse_job_record(noise + good + noise + R"({"v":1,"tok":"9f3c)", std::nullopt);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->start.pid, 77);
  EXPECT_FALSE(record->end);
  EXPECT_FALSE(parse_job_record(noise, std::nullopt));
  EXPECT_FALSE(parse_job_record("", std::nullopt));
}

TEST_F(JobRecordTest, lines_stay_short_and_valid) {
  const JobRecordWriter writer(job);
  auto event = start(k_t0);
  event.out = std::string(20000, '\xc3'); // every byte becomes U+FFFD
  event.hosts = std::string(9000, '"');   // every byte becomes two
  ASSERT_TRUE(writer.start(event));
  EXPECT_LE(text().size(), 4000U);
  EXPECT_GT(text().size(), 3000U);
  ASSERT_TRUE(parse_job_record(text(), std::nullopt));
}

TEST_F(JobRecordTest, nothing_is_written_where_records_are_off) {
  job.records = false;
  ASSERT_TRUE(JobRecordWriter(job).start(start(k_t0)));
  EXPECT_FALSE(posix::exists(state.job_record(job.key())));
}

TEST_F(JobRecordTest, a_missing_folder_is_an_error_for_the_caller_to_ignore) {
  job.dir = dir / "nowhere";
  EXPECT_FALSE(JobRecordWriter(job).start(start(k_t0)));
}

} // namespace
} // namespace shim::records
