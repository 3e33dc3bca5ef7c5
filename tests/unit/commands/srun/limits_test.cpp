#include "progress.h"
#include "step_limits.h"

#include <gtest/gtest.h>

namespace shim::commands::srun {
namespace {

using namespace std::chrono_literals;
using Due = StepLimits::Due;

const StepLimits::Clock::time_point k_begin{1000s};

slurm::SignalSpec usr1(int seconds_before) {
  slurm::SignalSpec spec;
  spec.signal = 10;
  spec.seconds_before = seconds_before;
  return spec;
}

TEST(StepLimits, nothing_asked_is_never_due) {
  StepLimits limits({}, k_begin);
  EXPECT_EQ(limits.take_due(k_begin + 1000h), Due::nothing);
  StepLimits no_end({{}, {}, usr1(60)}, k_begin);
  EXPECT_EQ(no_end.take_due(k_begin + 1000h), Due::nothing);
}

TEST(StepLimits, signal_comes_before_the_end_each_once) {
  StepLimits limits({120s, {}, usr1(30)}, k_begin);
  EXPECT_EQ(limits.take_due(k_begin + 89s), Due::nothing);
  EXPECT_EQ(limits.take_due(k_begin + 90s), Due::signal);
  EXPECT_EQ(limits.signal(), 10);
  EXPECT_EQ(limits.take_due(k_begin + 119s), Due::nothing);
  EXPECT_EQ(limits.take_due(k_begin + 120s), Due::end);
  EXPECT_EQ(limits.take_due(k_begin + 121s), Due::nothing);
}

TEST(StepLimits, both_due_at_once_are_told_in_order) {
  StepLimits limits({60s, {}, usr1(10)}, k_begin);
  EXPECT_EQ(limits.take_due(k_begin + 100s), Due::signal);
  EXPECT_EQ(limits.take_due(k_begin + 100s), Due::end);
}

TEST(StepLimits, signal_counts_from_the_earlier_end) {
  StepLimits job_first({600s, 100s, usr1(60)}, k_begin);
  EXPECT_EQ(job_first.take_due(k_begin + 40s), Due::signal);
  EXPECT_EQ(job_first.take_due(k_begin + 500s), Due::nothing); // the job's end is the engine's
  StepLimits step_first({100s, 600s, usr1(60)}, k_begin);
  EXPECT_EQ(step_first.take_due(k_begin + 40s), Due::signal);
  StepLimits job_only({{}, 100s, usr1(60)}, k_begin);
  EXPECT_EQ(job_only.take_due(k_begin + 40s), Due::signal);
}

TEST(StepLimits, longer_lead_than_limit_signals_at_once) {
  StepLimits limits({60s, {}, usr1(300)}, k_begin);
  EXPECT_EQ(limits.take_due(k_begin), Due::signal);
}

TEST(StepLimits, time_in_which_srun_was_stopped_does_not_count) {
  StepLimits limits({60s, {}, usr1(30)}, k_begin);
  limits.shift(100s);
  EXPECT_EQ(limits.take_due(k_begin + 129s), Due::nothing);
  EXPECT_EQ(limits.take_due(k_begin + 130s), Due::signal);
  EXPECT_EQ(limits.take_due(k_begin + 160s), Due::end);
}

TEST(Progress, draws_only_what_changed_and_leaves_nothing) {
  Progress progress("7.0");
  EXPECT_EQ(progress.hide(), "");
  EXPECT_EQ(progress.show(1, 3), "\r\x1b[Ksrun: launching StepId=7.0: 1 of 3 hosts ready");
  EXPECT_EQ(progress.show(1, 3), "");
  EXPECT_EQ(progress.show(2, 3), "\r\x1b[Ksrun: launching StepId=7.0: 2 of 3 hosts ready");
  EXPECT_EQ(progress.hide(), "\r\x1b[K");
  EXPECT_EQ(progress.hide(), "");
  EXPECT_EQ(progress.show(2, 3), "\r\x1b[Ksrun: launching StepId=7.0: 2 of 3 hosts ready");
}

} // namespace
} // namespace shim::commands::srun
