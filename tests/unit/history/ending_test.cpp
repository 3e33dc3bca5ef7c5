#include "slurm_shim/history/history.h"

#include <gtest/gtest.h>

namespace shim::history {
namespace {

using slurm::JobState;

ge::AccountingRecord accounted(int failed, int status, const std::string& deleted_by = "") {
  ge::AccountingRecord record;
  record.job = 7;
  record.owner = "alice";
  record.start = 1000;
  record.end = 1060;
  record.failed = failed;
  record.exit_status = status;
  record.deleted_by = deleted_by;
  return record;
}

records::JobRecord recorded(int code, int sig, const std::string& reason = "exit") {
  records::JobRecord record;
  record.end = records::EndEvent{.t_ms = 1'060'000, .code = code, .sig = sig, .reason = reason};
  return record;
}

struct Case {
  const char* what;
  ge::AccountingRecord accounting;
  std::optional<records::JobRecord> record;
  std::int64_t limit_s = 0;
  std::uint64_t memory_mib = 0;
  JobState state = JobState::completed;
  ExitCode exit;
  std::string by;
};

TEST(Ending, follows_who_ended_the_job_before_how) {
  auto big = accounted(100, 137, "execd@n1");
  big.max_vmem = 1000.0 * 1024 * 1024;
  auto early = accounted(100, 0); // 8.1.9, measured: qdel in the second in which the job starts
  early.start = early.end = 0;
  const Case cases[] = {
      {"killed before it began", early, {}, 60, 0, JobState::cancelled, {}, "alice"},
      {"own end", accounted(0, 0), {}, 0, 0, JobState::completed, {}, ""},
      {"exit 3", accounted(0, 3), {}, 0, 0, JobState::failed, {3, 0}, ""},
      {"a signal, as far as the engine knows",
       accounted(0, 139),
       {},
       0,
       0,
       JobState::failed,
       {0, 11},
       ""},
      {"a plain 137, as the record knows",
       accounted(0, 137),
       recorded(137, 0),
       0,
       0,
       JobState::failed,
       {137, 0},
       ""},
      {"true 99 behind the engine's 1",
       accounted(0, 1),
       recorded(99, 0),
       0,
       0,
       JobState::failed,
       {99, 0},
       ""},
      {"limit of 8.1.9", accounted(37, 137), {}, 60, 0, JobState::timeout, {}, ""},
      {"limit of OCS", accounted(100, 137, "execd@n1"), {}, 60, 0, JobState::timeout, {}, ""},
      {"trapped at the limit", accounted(0, 8, "execd@n1"), {}, 60, 0, JobState::timeout, {}, ""},
      {"memory", big, {}, 3600, 1024, JobState::out_of_memory, {0, 9}, ""},
      {"memory without a time limit",
       accounted(100, 137, "execd@n1"),
       {},
       0,
       100,
       JobState::out_of_memory,
       {0, 9},
       ""},
      {"qdel", accounted(100, 137, "bob@login"), {}, 0, 0, JobState::cancelled, {}, "bob"},
      {"qdel, trapped", accounted(0, 8, "alice@login"), {}, 0, 0, JobState::cancelled, {}, "alice"},
      {"qdel after the end",
       accounted(100, 137, "alice@login"),
       recorded(0, 0),
       0,
       0,
       JobState::completed,
       {},
       ""},
      {"killed on 8.1.9", accounted(100, 137), {}, 0, 0, JobState::cancelled, {}, "alice"},
      {"killed on 8.1.9 at the limit", accounted(100, 137), {}, 60, 0, JobState::timeout, {}, ""},
      {"SEGV on 8.1.9", accounted(100, 139), {}, 0, 0, JobState::failed, {0, 11}, ""},
      {"host lost", accounted(22, 0), {}, 0, 0, JobState::node_fail, {}, ""},
      {"rescheduled", accounted(25, 99), {}, 0, 0, JobState::requeued, {}, ""},
      {"rescheduled by hand",
       accounted(25, 0, "alice@login"),
       {},
       0,
       0,
       JobState::requeued,
       {},
       ""},
      {"no directory", accounted(28, 0), {}, 0, 0, JobState::failed, {1, 0}, ""},
      {"asked for error", accounted(30, 100), {}, 0, 0, JobState::failed, {100, 0}, ""},
      {"dependency",
       accounted(0, 1),
       recorded(1, 0, "dependency"),
       0,
       0,
       JobState::cancelled,
       {},
       ""},
      {"ended in time before the limit",
       accounted(0, 0),
       recorded(0, 0, "timeout"),
       60,
       0,
       JobState::timeout,
       {},
       ""},
      {"cancelled with time to clean up",
       accounted(0, 7),
       recorded(7, 0, "cancel"),
       60,
       0,
       JobState::cancelled,
       {},
       "alice"},
      {"deadline", accounted(0, 1), recorded(1, 0, "deadline"), 60, 0, JobState::deadline, {}, ""},
      {"output file",
       accounted(0, 1),
       recorded(1, 0, "output"),
       0,
       0,
       JobState::failed,
       {0, 53},
       ""},
  };
  for (const auto& c : cases) {
    const auto ending = ending_of(c.accounting, c.record, c.limit_s, c.memory_mib);
    EXPECT_EQ(ending.state, c.state) << c.what;
    EXPECT_EQ(ending.exit, c.exit) << c.what;
    EXPECT_EQ(ending.cancelled_by, c.by) << c.what;
  }
}

TEST(Ending, a_failed_start_says_what_went_wrong) {
  EXPECT_EQ(ending_of(accounted(28, 0), std::nullopt, 0, 0).reason,
            "changing into working directory");
  EXPECT_EQ(ending_of(accounted(26, 0), std::nullopt, 0, 0).reason, "opening input/output file");
  EXPECT_EQ(ending_of(accounted(99, 0), std::nullopt, 0, 0).reason, "JobLaunchFailure");
}

TEST(Steps, end_with_their_job_when_nobody_wrote_their_end) {
  records::JobRecord record;
  record.start.host = "n1";
  record.start.nodes = 2;
  record.start.cpus = 4;
  record.steps.push_back({records::StepStartEvent{.step = 0,
                                                  .name = "a.out",
                                                  .cmd = "a.out",
                                                  .hosts = "n[1-2]",
                                                  .nodes = 2,
                                                  .ntasks = 4,
                                                  .cpus = 4},
                          std::nullopt});
  const auto deleted = steps_of(record, {JobState::cancelled, "", {}, ""}, 2000, "alice");
  for (const auto& step : deleted)
    EXPECT_EQ(step.exit, (ExitCode{0, 15}));
  // vectors/13 life.timeout_step: what does not end by itself within KillWait
  const auto killed = steps_of(record, {JobState::timeout, "", {}, ""}, 2000, "alice");
  ASSERT_EQ(killed.size(), 2U);
  EXPECT_EQ(killed[0].id, "batch");
  EXPECT_EQ(killed[0].cpus, 2);
  EXPECT_EQ(killed[0].hosts, "n1");
  for (const auto& step : killed) {
    EXPECT_EQ(step.state, JobState::cancelled);
    EXPECT_EQ(step.exit, (ExitCode{0, 9}));
    EXPECT_EQ(step.end, 2000);
  }
  const auto lost = steps_of(record, {JobState::node_fail, "", {}, ""}, 2000, "alice");
  EXPECT_FALSE(lost[1].exit);
  const auto live = steps_of(record, {JobState::running, "", {}, ""}, 0, "alice");
  EXPECT_EQ(live[1].state, JobState::running);
  EXPECT_EQ(live[1].end, 0);
}

TEST(Steps, show_how_srun_said_that_they_ended) {
  records::JobRecord record;
  const auto add = [&](int number, int code, int sig, const char* reason) {
    record.steps.push_back(
        {records::StepStartEvent{.step = number, .name = "x", .cmd = "x", .hosts = "n1"},
         records::StepEndEvent{
             .step = number, .code = code, .sig = sig, .max_code = code, .reason = reason}});
  };
  add(0, 0, 0, "exit");
  add(1, 3, 0, "exit");
  add(2, 137, 9, "exit");
  add(3, 143, 0, "cancel");
  const auto steps = steps_of(record, {}, 0, "alice");
  ASSERT_EQ(steps.size(), 5U);
  EXPECT_EQ(steps[1].state, JobState::completed);
  EXPECT_EQ(steps[2].state, JobState::failed);
  EXPECT_EQ(steps[2].exit, (ExitCode{3, 0}));
  EXPECT_EQ(steps[3].state, JobState::cancelled);
  EXPECT_EQ(steps[3].exit, (ExitCode{0, 9}));
  EXPECT_EQ(steps[4].exit, (ExitCode{0, 15}));
  for (const auto& step : steps)
    EXPECT_EQ(step.cancelled_by, "") << "nobody asked for that";
}

// vectors/13 life.scancel_step0
TEST(Steps, show_who_ended_them_alone) {
  records::JobRecord record;
  const auto add = [&](int number, std::int64_t from, std::int64_t to, const char* reason) {
    records::StepStartEvent start;
    start.t_ms = from;
    start.step = number;
    records::StepEndEvent end;
    end.t_ms = to;
    end.step = number;
    end.sig = 9;
    end.reason = reason;
    record.steps.push_back({start, end});
  };
  add(0, 1000, 2000, "cancel"); // over before
  add(1, 1000, 4000, "cancel");
  add(2, 1000, 4000, "exit");
  record.requests.push_back({.t_ms = 3000, .id = "a", .verb = "end-step", .rc = 0, .text = ""});
  auto steps = steps_of(record, {}, 0, "alice");
  EXPECT_EQ(steps[1].cancelled_by, "");
  EXPECT_EQ(steps[2].cancelled_by, "alice");
  EXPECT_EQ(steps[3].cancelled_by, "");
  record.requests.back().rc = 1;
  EXPECT_EQ(steps_of(record, {}, 0, "alice")[2].cancelled_by, "");
  record.requests.back() = {.t_ms = 3000, .id = "b", .verb = "cancel", .rc = 0, .text = ""};
  EXPECT_EQ(steps_of(record, {}, 0, "alice")[2].cancelled_by, "");
}

} // namespace
} // namespace shim::history
