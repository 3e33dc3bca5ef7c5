#include "columns.h"

#include "slurm_shim/base/strings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <regex>

#include "support/case_file.h"

namespace shim::commands::squeue {
namespace {

constexpr std::int64_t k_now = 1796003000;

// Jobs {J01}, {J02} and {J07} of the captured cluster, as far as the cases show them.
queue::Job running() {
  queue::Job job;
  job.job = job.id = 70001;
  job.state = slurm::JobState::running;
  job.name = "run1";
  job.user = job.group = "alice";
  job.uid = job.gid = 1001;
  job.account = "acct1";
  job.partition = "batch";
  job.reason = "None";
  job.hosts = {"node001"};
  job.requested_hosts = "node001";
  job.cpus = job.ntasks = 2;
  job.limit_min = 60;
  job.start = job.submit = k_now - 65;
  return job;
}

queue::Job held() {
  auto job = running();
  job.job = job.id = 70007;
  job.state = slurm::JobState::pending;
  job.name = "held";
  job.reason = "JobHeldUser";
  job.hosts.clear();
  job.requested_hosts.clear();
  job.cpus = job.ntasks = 3;
  job.limit_min = slurm::k_unlimited_minutes;
  job.start = 0;
  return job;
}

queue::Job long_named() {
  auto job = running();
  job.job = job.id = 70002;
  job.name = "longjobname_xyz";
  job.user = "bob";
  job.hosts = {"node002", "node003"};
  job.nodes = 2;
  return job;
}

std::string with_numbers(std::string text) {
  return std::regex_replace(text, std::regex("\\{J(\\d\\d)\\}"), "700$1");
}

std::string values(const std::string& format, const queue::Job& job) {
  return job_line(parse_format(format), job, k_now);
}

class SqueueColumns : public ::testing::Test {
protected:
  void SetUp() override {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
};

// Every captured case that shows one column or the grammar of the format, for these three jobs.
TEST_F(SqueueColumns, PrintWhatSlurmPrinted) {
  const std::regex format_of("^squeue (-h )?-j \\{J(01|02|07)\\} -o \"([^\"]*)\"$");
  std::size_t compared = 0;
  const auto topic = test::load_json("vectors/07_squeue.json");
  for (const auto& known : topic.at("cases")) {
    const auto id = known.at("id").get<std::string>();
    const auto command = known.at("cmd").get<std::string>();
    std::smatch parts;
    if (!known.at("robust").get<bool>() || !id.starts_with("sq.o") ||
        !std::regex_match(command, parts, format_of))
      continue;
    const auto job = parts[2] == "01" ? running() : parts[2] == "07" ? held() : long_named();
    const auto format = parse_format(parts[3].str());
    const auto header = parts[1].matched ? "" : header_line(format);
    EXPECT_EQ(header + job_line(format, job, k_now),
              with_numbers(known.at("stdout").get<std::string>()))
        << id << ": " << command;
    std::string errors;
    for (const auto& line : format.errors)
      errors += "squeue: error: " + line + "\n";
    EXPECT_EQ(errors, known.at("stderr").get<std::string>()) << id;
    ++compared;
  }
  EXPECT_GE(compared, 80U);
}

TEST_F(SqueueColumns, TheDefaultIsSlurms) {
  const auto normal = parse_format(k_default_format);
  EXPECT_EQ(
      header_line(normal),
      "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n");
  EXPECT_EQ(job_line(normal, running(), k_now),
            "             70001     batch     run1    alice  R       1:05      1 node001\n");
  EXPECT_EQ(job_line(normal, held(), k_now),
            "             70007     batch     held    alice PD       0:00      1 (JobHeldUser)\n");
  EXPECT_EQ(job_line(normal, long_named(), k_now),
            "             70002     batch longjobn      bob  R       1:05      2 node[002-003]\n");
  EXPECT_EQ(header_line(parse_format(k_long_format)),
            "             JOBID PARTITION     NAME     USER    STATE       TIME TIME_LIMI  NODES "
            "NODELIST(REASON)\n");
}

TEST_F(SqueueColumns, TimesThatAreNotKnownSaySo) {
  EXPECT_EQ(values("%S|%e|%V|%M|%L|%l", held()),
            "N/A|N/A|2026-11-30T01:42:15|0:00|UNLIMITED|UNLIMITED\n");
  EXPECT_EQ(values("%S|%e|%M|%L|%l", running()),
            "2026-11-30T01:42:15|2026-11-30T02:42:15|1:05|58:55|1:00:00\n");
  auto late = held();
  late.begin = k_now + 60;
  EXPECT_EQ(values("%S", late), "2026-11-30T01:44:20\n") << "the time it was told to wait for";
  auto overdue = running();
  overdue.limit_min = 1;
  EXPECT_EQ(values("%L", overdue), "INVALID\n");
}

TEST_F(SqueueColumns, ElementsShowAllTheirNumbers) {
  auto element = running();
  element.tasks = {4};
  element.indices = {3};
  element.id = slurm::element_job_id(70001, 3);
  EXPECT_EQ(values("%i %A %F %K", element), "70001_3 40070077 70001 3\n");
  auto waiting = held();
  waiting.tasks = waiting.indices = {2, 3, 4, 5};
  waiting.together = true;
  waiting.throttle = 2;
  EXPECT_EQ(values("%i %A %F %K", waiting), "70007_[2-5%2] 70007 70007 2-5%2\n");
}

TEST_F(SqueueColumns, WidthsAreBounded) {
  EXPECT_EQ(values("%99999999999999999999j|", running()).size(), 4096U + 2U);
  EXPECT_EQ(values("%.", running()), "\n");
  EXPECT_EQ(values("%8", running()), "\n");
}

TEST_F(SqueueColumns, KnowsWhichLettersAreUsed) {
  EXPECT_TRUE(parse_format("%i %Z").uses("UZ"));
  EXPECT_FALSE(parse_format("%i U %j").uses("UZ"));
}

} // namespace
} // namespace shim::commands::squeue
