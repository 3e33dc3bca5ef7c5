#include "slurm_shim/slurm/time_limit.h"
#include "slurm_shim/submit/schedule.h"

#include <gtest/gtest.h>

namespace shim::submit {
namespace {

using Lines = std::vector<std::string>;
using State = Predecessor::State;

constexpr std::time_t k_now = 1796002949; // 2026-11-30 UTC

struct Asked {
  std::string dependency{}, array{};
  std::optional<std::uint32_t> minutes{};
  std::optional<std::time_t> begin{};
  std::optional<slurm::SignalSpec> signal{};
  bool hold = false;
};

struct Fixture {
  config::Config config;
  config::Partition partition;
  EngineFacts facts;
  std::string name = "job";

  Fixture() { partition.name = "batch"; }

  Result<Schedule> plan(const Asked& asked) const {
    Request request;
    request.dependency_text = asked.dependency;
    request.array_text = asked.array;
    request.minutes = asked.minutes;
    request.begin = asked.begin;
    request.signal = asked.signal;
    request.hold = asked.hold;
    TRY(verify_submission(request, k_now));
    return plan_schedule(request, config, partition, facts, name, k_now);
  }

  Schedule of(const Asked& asked) const {
    auto made = plan(asked);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return made ? *made : Schedule{};
  }
};

std::string refusal(const Result<Schedule>& made) {
  return made ? "accepted" : made.error().message;
}

TEST(Schedule, limit_comes_from_the_request_then_from_the_partition) {
  Fixture f;
  EXPECT_EQ(f.of({}).minutes, std::nullopt);
  EXPECT_EQ(f.of({.minutes = 7}).minutes, 7u);
  EXPECT_EQ(f.of({.minutes = slurm::k_unlimited_minutes}).minutes, std::nullopt);
  f.partition.max_time_min = 30;
  EXPECT_EQ(f.of({}).minutes, 30u);
  f.partition.default_time_min = 5;
  EXPECT_EQ(f.of({}).minutes, 5u);
  EXPECT_EQ(f.of({.minutes = 30}).minutes, 30u);
}

TEST(Schedule, a_limit_above_the_partitions_is_refused_unless_the_job_is_held) {
  Fixture f;
  f.partition.max_time_min = 30;
  const std::string line =
      "sbatch: error: --time: longer than the 30 minutes of partition batch\n"
      "sbatch: error: Batch job submission failed: Requested time limit is invalid "
      "(missing or exceeds some limit)";
  EXPECT_EQ(refusal(f.plan({.minutes = 31})), line);
  EXPECT_EQ(refusal(f.plan({.minutes = slurm::k_unlimited_minutes})), line);
  const auto held = f.of({.minutes = 31, .hold = true});
  EXPECT_EQ(held.minutes, 31u);
  EXPECT_EQ(held.warnings, Lines{"--time: longer than the 30 minutes of partition batch"});
  f.config.submit_check = false;
  EXPECT_EQ(f.of({.minutes = 31}).warnings.size(), 1u);
}

TEST(Schedule, begin_counts_only_when_it_lies_ahead) {
  const Fixture f;
  EXPECT_EQ(f.of({.begin = k_now + 60}).begin, k_now + 60);
  EXPECT_EQ(f.of({.begin = k_now}).begin, std::nullopt);
}

TEST(Schedule, a_signal_that_cannot_come_is_told) {
  const Fixture f;
  const slurm::SignalSpec signal{.signal = 10, .seconds_before = 90};
  EXPECT_EQ(f.of({.minutes = 2, .signal = signal}).warnings, Lines{});
  EXPECT_EQ(f.of({.signal = signal}).warnings,
            Lines{"--signal: the job has no time limit, so that it gets no signal"});
  EXPECT_EQ(f.of({.minutes = 1, .signal = signal}).warnings,
            Lines{"--signal: 90 seconds before the end is before the start: the signal is sent at "
                  "once"});
  EXPECT_EQ(f.of({.minutes = 5, .signal = slurm::SignalSpec{.signal = 65}}).warnings,
            Lines{"--signal: there is no signal 65: none is sent"});
}

TEST(Schedule, holds_of_each_type_when_nothing_is_known) {
  const Fixture f;
  struct Case {
    std::string dependency, array;
    Lines hold, hold_by_element;
  };
  const Case cases[] = {
      {"afterany:7:8,afterok:7", "", {"7", "8"}, {}},
      {"afterok:7,afternotok:9", "", {"7", "9"}, {}},
      {"afterok:20000045", "", {"7"}, {}}, // an element's own id
      {"afterok:7_3", "", {"7"}, {}},
      {"aftercorr:7", "", {"7"}, {}},
      {"aftercorr:7", "1-4", {}, {"7"}},
      {"after:7", "", {"7"}, {}},
      {"afterburstbuffer:7", "", {"7"}, {}},
      {"singleton", "", {"job"}, {}},
      {"7", "", {"7"}, {}},
  };
  for (const auto& c : cases) {
    const auto made = f.of({.dependency = c.dependency, .array = c.array});
    EXPECT_EQ(made.hold_jobs, c.hold) << c.dependency;
    EXPECT_EQ(made.hold_array_jobs, c.hold_by_element) << c.dependency;
  }
  EXPECT_EQ(f.of({.dependency = "afterok:7,afternotok:9,afterany:3"}).warnings, Lines{});
}

TEST(Schedule, jobs_that_have_ended_are_not_waited_for) {
  Fixture f;
  f.facts.predecessors = {{7, State::ended}, {8, State::waits}, {9, State::started}};
  EXPECT_EQ(f.of({.dependency = "afterok:7:8:9"}).hold_jobs, (Lines{"8", "9"}));
  EXPECT_EQ(f.of({.dependency = "aftercorr:7", .array = "1-4"}).hold_array_jobs, Lines{});
}

TEST(Schedule, jobs_that_nobody_knows_count_as_fulfilled) {
  Fixture f;
  f.facts.predecessors = {{7, State::unknown}};
  const auto made = f.of({.dependency = "afterok:7"});
  EXPECT_EQ(made.unknown, Lines{"7"});
  EXPECT_EQ(made.warnings,
            Lines{"--dependency: nothing is known of job 7: it counts as fulfilled"});
}

TEST(Schedule, after_a_job_of_ones_own_waits_for_its_start) {
  Fixture f;
  f.facts.predecessors = {{7, State::waits, 0, "", true}, {8, State::waits, 0, "", true}};
  const auto made = f.of({.dependency = "after:7+3,after:8,afterany:9"});
  EXPECT_EQ(made.hold_jobs, (Lines{"7", "8", "9"}));
  EXPECT_EQ(made.wait_for_starts, (std::vector<StartWait>{{7, 3}, {8, 0}}));
  EXPECT_EQ(made.warnings, Lines{});
  f.facts.predecessors = {{7, State::started, k_now - 30, "", true}};
  EXPECT_TRUE(f.of({.dependency = "after:7"}).wait_for_starts.empty());
}

TEST(Schedule, after_needs_the_start_only) {
  Fixture f;
  f.facts.predecessors = {{7, State::started, k_now - 30}, {8, State::waits}, {9, State::ended}};
  EXPECT_EQ(f.of({.dependency = "after:7"}).hold_jobs, Lines{});
  EXPECT_EQ(f.of({.dependency = "after:7"}).begin, std::nullopt);
  EXPECT_EQ(f.of({.dependency = "after:7+2"}).begin, k_now + 90);
  EXPECT_EQ(f.of({.dependency = "after:9+2"}).begin, k_now + 120); // start unknown
  EXPECT_EQ(f.of({.dependency = "after:7+1", .begin = k_now + 600}).begin, k_now + 600);
  const auto waits = f.of({.dependency = "after:8+5"});
  EXPECT_EQ(waits.hold_jobs, Lines{"8"});
  EXPECT_EQ(waits.warnings,
            (Lines{"--dependency: after:8 waits for the end of the job, not for its start",
                   "--dependency: the delay of 5 minutes after job 8 is dropped"}));
}

TEST(Schedule, elements_wait_for_their_counterparts_when_numbered_alike) {
  Fixture f;
  f.facts.predecessors = {{7, State::waits, 0, "1-4:1"}};
  EXPECT_EQ(f.of({.dependency = "aftercorr:7", .array = "1-4"}).hold_array_jobs, Lines{"7"});
  EXPECT_EQ(f.of({.dependency = "aftercorr:7", .array = "0-3"}).hold_array_jobs, Lines{"7"});
  const auto other = f.of({.dependency = "aftercorr:7", .array = "1-5"});
  EXPECT_EQ(other.hold_array_jobs, Lines{});
  EXPECT_EQ(other.hold_jobs, Lines{"7"});
  EXPECT_EQ(other.warnings,
            Lines{"--dependency: the indices differ from those of 7: each element waits for all of "
                  "its elements"});
}

TEST(Schedule, alternatives_are_refused_unless_one_job_is_waited_for) {
  const Fixture f;
  EXPECT_EQ(f.of({.dependency = "afterok:7?afterany:7"}).hold_jobs, Lines{"7"});
  const std::string line =
      "sbatch: error: --dependency: jobs joined by '?' are not supported: Grid Engine lets a job "
      "wait for all of them (',')\n"
      "sbatch: error: Batch job submission failed: Job dependency problem";
  for (const auto* text : {"afterok:7?afterok:8", "after:7?afterok:7", "singleton?afterok:7"})
    EXPECT_EQ(refusal(f.plan({.dependency = text})), line) << text;
}

TEST(Schedule, singleton_with_a_name_that_is_a_pattern_goes_by_numbers) {
  Fixture f;
  f.name = "a[1],b";
  f.facts.own_jobs = {{7, "a[1],b"}, {8, "a1"}, {9, "a[1],b"}};
  EXPECT_EQ(f.of({.dependency = "singleton"}).hold_jobs, (Lines{"7", "9"}));
}

} // namespace
} // namespace shim::submit
