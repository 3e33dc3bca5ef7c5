#include "order.h"

#include "slurm_shim/base/strings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>

#include "support/case_file.h"

namespace shim::commands::squeue {
namespace {

using Jobs = std::vector<queue::Job>;

// One line of `-o "%i|%j|%P|%t|%u"`. Arrays: one element, or those that wait together.
queue::Job job_of(std::string_view line) {
  const auto fields = split(line, '|');
  queue::Job job;
  const std::string id(fields.at(0));
  job.job = job.id = 70000 + static_cast<std::uint64_t>(std::stoi(id.substr(2, 2)));
  const auto rest = id.substr(5);
  if (rest.starts_with("_[")) {
    job.together = true;
    job.indices = {2, 3};
  } else if (rest.starts_with("_")) {
    job.indices = {static_cast<std::uint32_t>(std::stoi(rest.substr(1)))};
  }
  job.tasks = job.indices;
  job.name = fields.at(1);
  job.partition = fields.at(2);
  job.state = slurm::parse_job_state(fields.at(3)).value();
  job.user = fields.at(4);
  job.comment = line;
  return job;
}

std::vector<std::string> lines_of(const std::vector<const queue::Job*>& jobs) {
  std::vector<std::string> lines;
  for (const auto* job : jobs)
    lines.push_back(job->comment);
  return lines;
}

// The same jobs were listed in several orders. Orders by nodes, limits and CPUs are left out:
// equals are in the order of Slurm's own table there.
TEST(SqueueOrder, IsSlurms) {
  const std::regex keys_of("^squeue -h -S \"([-+ijtP,]*)\" -o \"%i\\|%j\\|%P\\|%t\\|%u\"$");
  std::map<std::string, std::vector<std::string>> orders;
  const auto topic = test::load_json("vectors/07_squeue.json");
  for (const auto& known : topic.at("cases")) {
    const auto command = known.at("cmd").get<std::string>();
    std::smatch parts;
    if (!known.at("robust").get<bool>() || !std::regex_match(command, parts, keys_of)) continue;
    auto& lines = orders[parts[1].str()];
    const auto shown = known.at("stdout").get<std::string>();
    for (const auto line : split(shown, '\n'))
      if (!line.empty()) lines.emplace_back(line);
  }
  ASSERT_GE(orders.size(), 6U);
  for (const auto& [keys, wanted] : orders) {
    Jobs jobs;
    for (const auto& line : orders.at("i"))
      jobs.push_back(job_of(line));
    std::ranges::reverse(jobs);
    EXPECT_EQ(lines_of(sorted(jobs, keys)), wanted) << "-S " << keys;
  }
}

queue::Job numbered(std::uint64_t id) {
  queue::Job job;
  job.job = job.id = id;
  return job;
}

std::vector<std::uint64_t> ids_by(const Jobs& jobs, std::string_view keys) {
  std::vector<std::uint64_t> ids;
  for (const auto* job : sorted(jobs, keys))
    ids.push_back(job->id);
  return ids;
}

TEST(SqueueOrder, TheFirstKeyCountsMost) {
  using Ids = std::vector<std::uint64_t>;
  Jobs jobs{numbered(1), numbered(2), numbered(3)};
  jobs[0].cpus = 8;
  jobs[1].cpus = 4;
  jobs[2].cpus = 4;
  jobs[0].limit_min = 10;
  EXPECT_EQ(ids_by(jobs, "C,i"), (Ids{2, 3, 1}));
  EXPECT_EQ(ids_by(jobs, "-C, -i"), (Ids{1, 3, 2}));
  EXPECT_EQ(ids_by(jobs, "l,i"), (Ids{1, 2, 3})) << "no limit is the longest";
  EXPECT_EQ(ids_by(jobs, "?,"), (Ids{3, 2, 1})) << "what has no order changes nothing";
  jobs[2].start = 100;
  EXPECT_EQ(ids_by(jobs, "S,i"), (Ids{3, 1, 2})) << "a start that is not known comes last";
}

TEST(SqueueOrder, RunningJobsFollowPendingOnesByDefault) {
  using Ids = std::vector<std::uint64_t>;
  Jobs jobs{numbered(1), numbered(2), numbered(3), numbered(4)};
  jobs[0].state = slurm::JobState::running;
  jobs[1].priority = 0.5;
  jobs[2].priority = 0.7;
  jobs[3].partition = "a";
  jobs[0].partition = jobs[1].partition = jobs[2].partition = "b";
  EXPECT_EQ(ids_by(jobs, k_default_sort), (Ids{4, 3, 2, 1}));
}

} // namespace
} // namespace shim::commands::squeue
