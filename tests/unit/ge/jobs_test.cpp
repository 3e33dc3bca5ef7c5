#include "slurm_shim/ge/jobs.h"
#include "slurm_shim/posix/files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace shim::ge {
namespace {

std::string fixture(const std::string& name) {
  auto text = posix::read_file(SHIM_TEST_DATA "/fixtures/" + name);
  return text.value_or("no fixture " + name);
}

class JobsTest : public testing::Test {
protected:
  void SetUp() override {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
  static std::vector<JobRow> list(const std::string& name) {
    auto rows = parse_job_list(fixture(name));
    EXPECT_TRUE(rows) << rows.error().message;
    return rows.value_or(std::vector<JobRow>{});
  }
  static JobFacts detail(const std::string& name) {
    auto details = parse_job_facts(fixture(name));
    EXPECT_TRUE(details) << details.error().message;
    return details && !details->jobs.empty() ? details->jobs.front() : JobFacts{};
  }
};

const JobRow& row_of(const std::vector<JobRow>& rows, std::uint64_t job) {
  for (const auto& row : rows)
    if (row.job == job) return row;
  static const JobRow none;
  return none;
}

TEST_F(JobsTest, reads_the_list_of_8_1_9) {
  const auto rows = list("8.1.9/qstat-r-xml-states.stdout");
  ASSERT_EQ(rows.size(), 10u);
  const auto& runner = row_of(rows, 43);
  EXPECT_EQ(runner.name, "runner");
  EXPECT_EQ(runner.owner, "user1");
  EXPECT_EQ(runner.queue, "batch.q");
  EXPECT_EQ(runner.host, "gedeb-master");
  EXPECT_EQ(runner.start, 1796002946);
  EXPECT_FALSE(runner.pending);
  EXPECT_EQ(runner.requested_queues, std::vector<std::string>{"batch.q"});
  const auto& pending = row_of(rows, 46);
  EXPECT_TRUE(pending.pending);
  EXPECT_EQ(pending.submit, 1796002958);
  EXPECT_EQ(pending.requests, (std::vector<std::pair<std::string, std::string>>{{"gpu", "99"}}));
  EXPECT_EQ(row_of(rows, 48).predecessors, std::vector<std::uint64_t>{43});
  EXPECT_EQ(row_of(rows, 44).slots, 6);
  EXPECT_EQ(row_of(rows, 44).pe, "slurm-shim-2");
  EXPECT_EQ(rows.back().state, "hqw");
}

TEST_F(JobsTest, reads_array_tasks_and_fractions_of_9_1_5) {
  const auto rows = list("9.1.5/array-mid.qstat.xml");
  const auto& first = rows.front();
  EXPECT_GT(first.start, 1796000000);
  bool ranges = false;
  for (const auto& row : rows)
    ranges = ranges || expand_task_ranges(row.tasks) == std::vector<std::uint32_t>{3, 4};
  EXPECT_TRUE(ranges) << "the pending half of the array";
}

TEST_F(JobsTest, undoes_the_encoding_bug_in_names) {
  std::vector<std::string> names;
  for (const auto& row : list("9.1.5/names.qstat.xml"))
    names.push_back(row.name);
  EXPECT_EQ(names[0], "a b  c");
  EXPECT_EQ(names[1], "q\"u<o>t&e");
  EXPECT_EQ(names[2], "jöb-é漢");
  EXPECT_EQ(names[3], "it's");
}

TEST_F(JobsTest, puts_the_master_host_first) {
  const auto old = hosts_of_jobs(list("8.1.9/qstat-gt-xml.stdout"));
  EXPECT_EQ(old.at({44, 0}), (std::vector<std::string>{"gedeb-master", "gedeb-n1", "gedeb-n2"}));
  EXPECT_EQ(old.at({45, 2}), std::vector<std::string>{"gedeb-master"});
  const auto ocs = hosts_of_jobs(list("9.1.5/running-pe.qstat-gt.xml"));
  EXPECT_EQ(ocs.at({64, 0}),
            (std::vector<std::string>{"ocs-worker1", "ocs-master", "ocs-worker2"}));
}

TEST_F(JobsTest, reads_the_details_of_8_1_9) {
  const auto job = detail("8.1.9/qstat-j-pe-running-xml.stdout");
  EXPECT_EQ(job.job, 44u);
  EXPECT_EQ(job.pe, "slurm-shim-2");
  EXPECT_EQ(job.pe_slots, (std::pair{6, 6}));
  EXPECT_EQ(job.requests, (std::vector<std::pair<std::string, std::string>>{{"gpu", "1"}}));
  EXPECT_FALSE(job.array);
  const auto array = detail("8.1.9/qstat-j-array-xml.stdout");
  EXPECT_TRUE(array.array);
  EXPECT_EQ(array.structure, (std::vector<TaskRange>{{1, 4, 1}}));
  EXPECT_EQ(array.concurrency, 2);
  ASSERT_NE(array.task(2), nullptr);
  EXPECT_EQ(array.task(2)->start, 1796002953);
  EXPECT_EQ(detail("8.1.9/qstat-j-dependent-xml.stdout").predecessors.front(), 43u);
  const auto error = detail("8.1.9/qstat-j-eqw-xml.stdout");
  EXPECT_EQ(error.cwd, "/nonexistent");
  EXPECT_NE(error.tasks.at(0).messages.at(0).find("can't chdir"), std::string::npos);
  const auto running = detail("8.1.9/qstat-j-running-xml.stdout");
  EXPECT_EQ(running.queues, std::vector<std::string>{"batch.q"});
  const auto two = parse_job_facts(fixture("8.1.9/qstat-j-two-xml.stdout"));
  ASSERT_TRUE(two);
  EXPECT_EQ(two->jobs.size(), 2u);
  EXPECT_NE(two->find(44), nullptr);
}

TEST_F(JobsTest, reads_the_details_of_9_1_5) {
  const auto job = detail("9.1.5/running-pe.qstat-j.xml");
  const std::vector<std::pair<std::string, int>> hosts{
      {"ocs-worker1", 2}, {"ocs-worker2", 2}, {"ocs-master", 1}};
  ASSERT_NE(job.task(1), nullptr);
  EXPECT_EQ(job.task(1)->hosts, hosts);
  EXPECT_EQ(job.submit, 1796004139);
  EXPECT_FALSE(job.array);
  EXPECT_EQ(detail("9.1.5/pending-pe.qstat-j.xml").reason,
            "cannot run in PE \"rr.pe\" because it only offers 32 slots");
  EXPECT_TRUE(detail("9.1.5/held-user.qstat-j.xml").user_hold);
  EXPECT_FALSE(detail("9.1.5/held-user.qstat-j.xml").system_hold);
  EXPECT_TRUE(detail("9.1.5/held-system.qstat-j.xml").system_hold);
  EXPECT_EQ(detail("9.1.5/waiting-a.qstat-j.xml").begin, 1893456000);
  EXPECT_TRUE(detail("9.1.5/array-pend.qstat-j.xml").array);
  EXPECT_EQ(expand_task_ranges(detail("9.1.5/array-pend.qstat-j.xml").structure).size(), 10u);
  const auto gpu = detail("9.1.5/rsmap-pe-2x2.qstat-j.xml");
  EXPECT_EQ(gpu.requests.at(0), (std::pair<std::string, std::string>{"gpu", "2"}));
}

TEST_F(JobsTest, tells_unknown_jobs_from_answers_that_are_no_answer) {
  for (const auto* name : {"8.1.9/qstat-j-missing-xml.stdout", "9.1.5/error-exec.qstat-j.xml"}) {
    const auto details = parse_job_facts(fixture(name));
    ASSERT_TRUE(details) << name;
    EXPECT_EQ(details->unknown.size(), 1u);
    EXPECT_TRUE(details->jobs.empty());
  }
  auto text = fixture("8.1.9/qstat-j-pe-running-xml.stdout");
  text.resize(text.size() / 2);
  const std::string bad[] = {"", "error: no qmaster", text, "<?xml version='1.0'?>\n<other/>"};
  for (const auto& answer : bad) {
    const auto details = parse_job_facts(answer);
    ASSERT_FALSE(details);
    EXPECT_EQ(details.error().kind, ErrorKind::malformed);
    EXPECT_FALSE(parse_job_list(answer));
  }
  auto list_text = fixture("8.1.9/qstat-gt-xml.stdout");
  for (std::size_t cut = 1; cut < list_text.size() - 12; cut += 97)
    EXPECT_FALSE(parse_job_list(list_text.substr(0, cut))) << cut;
  const auto down = parse_job_facts("<communication_error>no qmaster</communication_error>");
  ASSERT_FALSE(down);
  EXPECT_EQ(down.error().kind, ErrorKind::unavailable);
}

TEST_F(JobsTest, reads_times_of_all_versions) {
  const std::pair<const char*, std::int64_t> cases[] = {
      {"2026-11-30T02:02:13.084009", 1796004133},
      {"2026-11-30T02:02:13", 1796004133},
      {"1796002953", 1796002953},
      {"1796002953123", 1796002953},
      {"1796002953123456", 1796002953},
      {"0", 0},
      {"", 0},
      {"-/-", 0},
      {"2026-11-30T02:02:13junk", 0},
  };
  for (const auto& [text, want] : cases)
    EXPECT_EQ(parse_time(text), want) << text;
}

TEST_F(JobsTest, reads_task_lists) {
  EXPECT_EQ(parse_task_ranges("1,3,5-9:2").value(),
            (std::vector<TaskRange>{{1, 1, 1}, {3, 3, 1}, {5, 9, 2}}));
  EXPECT_EQ(parse_task_ranges("").value(), std::vector<TaskRange>{});
  for (const auto* bad : {"x", "1-", "3-1", "1-4:0", "1,,2"})
    EXPECT_FALSE(parse_task_ranges(bad)) << bad;
}

// How many rows there are is guessed from the first ones.
TEST_F(JobsTest, a_long_list_is_read_to_its_end_whatever_its_rows_are_like) {
  constexpr std::size_t k_long = 100;
  constexpr std::size_t k_short = 20'000;
  std::string xml = "<?xml version='1.0'?><job_info><queue_info>";
  for (std::size_t i = 1; i <= k_long + k_short; ++i)
    xml += "<job_list state=\"pending\"><JB_job_number>" + std::to_string(i) +
           "</JB_job_number><JB_owner>" + std::string(i <= k_long ? 1000 : 1, 'u') +
           "</JB_owner></job_list>";
  xml += "</queue_info></job_info>";
  const auto rows = parse_job_list(xml);
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), k_long + k_short);
  EXPECT_EQ(rows->back().job, k_long + k_short);
  EXPECT_EQ(rows->back().owner, "u");
}

} // namespace
} // namespace shim::ge
