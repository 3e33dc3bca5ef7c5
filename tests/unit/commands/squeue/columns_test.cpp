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
  job.input = "/dev/null";
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

std::string line_of(const Format& format,
                    const queue::Job& job,
                    const Setting& setting = {k_now, "", "oracle"}) {
  std::string line;
  append_line(format, job, setting, line);
  return line;
}

std::string header_of(const Format& format) {
  std::string line;
  append_header(format, line);
  return line;
}

std::string values(const std::string& format, const queue::Job& job) {
  return line_of(parse_format(format), job);
}

queue::Job with_cores() { // {J22}
  auto job = held();
  job.job = job.id = 70022;
  job.name = "c4";
  job.cpus = 8;
  job.ntasks = 2;
  job.cpus_per_task = 4;
  records::SubmitRecord record;
  record.set("mem", "2048");
  record.set("memper", "node");
  record.set("feat", "std");
  job.record = std::make_shared<const records::SubmitRecord>(record);
  job.excluded_hosts = "node001";
  return job;
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
    const auto header = parts[1].matched ? "" : header_of(format);
    EXPECT_EQ(header + line_of(format, job), with_numbers(known.at("stdout").get<std::string>()))
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
      header_of(normal),
      "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n");
  EXPECT_EQ(line_of(normal, running()),
            "             70001     batch     run1    alice  R       1:05      1 node001\n");
  EXPECT_EQ(line_of(normal, held()),
            "             70007     batch     held    alice PD       0:00      1 (JobHeldUser)\n");
  EXPECT_EQ(line_of(normal, long_named()),
            "             70002     batch longjobn      bob  R       1:05      2 node[002-003]\n");
  EXPECT_EQ(header_of(parse_format(k_long_format)),
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

// Every captured case that shows one -O column of {J01} and {J22}.
TEST_F(SqueueColumns, PrintLongNamesAsSlurmDoes) {
  const std::regex format_of("^squeue -j \\{J01\\},\\{J22\\} -S i -O \"([^\"]*)\"$");
  std::size_t compared = 0;
  const auto topic = test::load_json("vectors/07_squeue.json");
  for (const auto& known : topic.at("cases")) {
    const auto command = known.at("cmd").get<std::string>();
    const auto wanted = with_numbers(known.at("stdout").get<std::string>());
    std::smatch parts;
    // Paths are shown as placeholders, which are not as wide as what was cut.
    if (!known.at("robust").get<bool>() || !std::regex_match(command, parts, format_of) ||
        wanted.find("{CWD}") != std::string::npos)
      continue;
    auto first = running();
    first.requeue = true;
    auto second = with_cores();
    second.requeue = true;
    const auto format = parse_long_format(parts[1].str());
    EXPECT_EQ(header_of(format) + line_of(format, first) + line_of(format, second), wanted)
        << command;
    std::string errors;
    for (const auto& line : format.errors)
      errors += "squeue: error: " + line + "\n";
    EXPECT_EQ(errors, known.at("stderr").get<std::string>()) << command;
    ++compared;
  }
  EXPECT_GE(compared, 55U);
}

TEST_F(SqueueColumns, LongNamesHaveWidthsAndSuffixes) {
  const auto line = [](const std::string& format) {
    return line_of(parse_long_format(format), running());
  };
  EXPECT_EQ(line("JobID:10,Name:.6,State"), "70001       run1RUNNING             \n");
  EXPECT_EQ(line("jobid:\x1f,Name:;,"), "70001\x1frun1;\n") << "a suffix alone: no padding";
  EXPECT_EQ(line("Name:.6|,JobID:3"), "  run1|700\n");
  EXPECT_EQ(line("Name:"), "run1                \n");
  EXPECT_EQ(line(""), "\n");
}

TEST_F(SqueueColumns, ShowWhatWasAskedFor) {
  EXPECT_EQ(values("%m|%f|%x|%c|%C|%q", with_cores()), "2G|std|node001|4|8|normal\n");
  auto waiting = held();
  EXPECT_EQ(values("%E", waiting), "(null)\n");
  waiting.dependency = "afterok:70001(failed),after:70003+5(unfulfilled)";
  EXPECT_EQ(values("%E", waiting), "afterok:70001(failed),after:70003+5(unfulfilled)\n");
  auto plain = running(); // of plain qsub: what the engine was asked for
  plain.slot_memory_mib = 2048;
  plain.slot_gpus = 1;
  EXPECT_EQ(values("%m|%b", plain), "2G|gres:gpu:2\n");
  EXPECT_EQ(line_of(parse_long_format("tres-alloc:60"), plain).substr(0, 49),
            "cpu=2,mem=4G,node=1,billing=2,gres/gpu=2         ");
  plain.slot_gpus = 0.5;
  EXPECT_EQ(values("%b", plain), "gres:gpu:1\n");
}

TEST_F(SqueueColumns, FollowTheTimeFormat) {
  const auto format = parse_format("%S");
  EXPECT_EQ(line_of(format, running(), {k_now, "%s", ""}), "1796002935\n");
  EXPECT_EQ(line_of(format, running(), {k_now, "relative", ""}), "01:42:15\n");
  EXPECT_EQ(line_of(format, held(), {k_now, "%s", ""}), "N/A\n");
}

TEST_F(SqueueColumns, KnowWhatTheListLacks) {
  EXPECT_TRUE(parse_format("%i %Z").needs_facts());
  EXPECT_FALSE(parse_format("%i U %j").needs_facts());
  EXPECT_FALSE(parse_format(k_default_format).needs_facts());
}

} // namespace
} // namespace shim::commands::squeue
