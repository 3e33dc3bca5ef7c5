#include "exit_report.h"
#include "input_plan.h"
#include "output_plan.h"

#include <gtest/gtest.h>

#include <csignal>

namespace shim::commands::srun {
namespace {

using Lines = std::vector<std::string>;

TEST(ExitReport, groups_by_host_and_reason) {
  ExitReport report(false);
  for (const int rank : {2, 0, 1})
    report.add("node001", rank, 3, 3 << 8);
  report.add("node001", 5, 4, 4 << 8);
  report.add("node002", 6, 3, 3 << 8);
  report.add("node002", 7, 0, 0);
  EXPECT_EQ(report.take_messages(),
            (Lines{"error: node001: tasks 0-2: Exited with exit code 3",
                   "error: node001: task 5: Exited with exit code 4",
                   "error: node002: task 6: Exited with exit code 3"}));
  EXPECT_TRUE(report.take_messages().empty());
  EXPECT_EQ(report.step_code(), 4);
  EXPECT_FALSE(report.take_forced());
}

TEST(ExitReport, tells_signals_from_codes) {
  EXPECT_EQ(describe_end(137, SIGKILL), "Killed");
  EXPECT_EQ(describe_end(137, 137 << 8), "Exited with exit code 137");
  EXPECT_EQ(describe_end(139, SIGSEGV | 0x80), "Segmentation fault (core dumped)");
  EXPECT_EQ(describe_end(130, SIGINT), "Interrupt");
  ExitReport report(false);
  report.add("n", 0, 143, SIGTERM);
  EXPECT_TRUE(report.take_forced());
  EXPECT_FALSE(report.take_forced()); // once a step
  EXPECT_EQ(report.last_signal(), SIGTERM);
}

TEST(ExitReport, highest_code_counts_unless_the_first_is_latched) {
  ExitReport plain(false);
  ExitReport killing(true);
  for (auto* report : {&plain, &killing}) {
    report->add("n", 0, 7, 7 << 8);
    report->latch_first();
    report->add("n", 1, 143, SIGTERM);
  }
  EXPECT_EQ(plain.step_code(), 143);
  EXPECT_EQ(killing.step_code(), 7);
}

TEST(Ranks, are_compressed) {
  EXPECT_EQ(compress_ranks({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(name_tasks({3}), "task 3");
  EXPECT_EQ(name_tasks({3, 4}), "tasks 3-4");
}

std::vector<RankPlace> four_on_two() {
  return {{0, 0, "n1"}, {1, 0, "n1"}, {2, 1, "n2"}, {3, 1, "n2"}};
}

std::vector<RankRoutes>
routes(const std::string& output, const std::string& error, bool label = false) {
  mux::PatternFields step;
  step.job_id = 7;
  step.step_id = 1;
  return plan_output({output, error, label, false, "/cwd", "/dir"}, step, four_on_two());
}

TEST(OutputPlan, streams_by_default) {
  const auto got = routes("", "");
  EXPECT_EQ(got[2][0].kind, Route::Kind::stream);
  EXPECT_TRUE(got[2][0].on_stdout);
  EXPECT_FALSE(got[2][1].on_stdout);
}

TEST(OutputPlan, a_file_of_one_rank_is_the_steppers_and_stderr_follows) {
  const auto got = routes("o-%t", "");
  EXPECT_EQ(got[3][0].kind, Route::Kind::file);
  EXPECT_EQ(got[3][0].path, "/dir/o-3"); // the tasks' directory
  EXPECT_EQ(got[3][1].path, "/dir/o-3");
}

TEST(OutputPlan, what_ranks_share_is_written_by_srun) {
  const auto one = routes("all-%j.%s", "");
  for (const auto& rank : one)
    for (const auto& route : rank) {
      EXPECT_EQ(route.kind, Route::Kind::shared);
      EXPECT_EQ(route.path, "/cwd/all-7.1"); // srun's directory
    }
  EXPECT_EQ(routes("h-%n", "")[2][0].kind, Route::Kind::shared);
  EXPECT_EQ(routes("o-%t", "", true)[0][0].kind, Route::Kind::shared); // labels are srun's
  const auto apart = routes("o-%t", "e");
  EXPECT_EQ(apart[0][0].kind, Route::Kind::file);
  EXPECT_EQ(apart[0][1].kind, Route::Kind::shared);
}

TEST(OutputPlan, words) {
  EXPECT_EQ(routes("none", "")[0][1].kind, Route::Kind::discard);
  EXPECT_EQ(routes("", "none")[0][0].kind, Route::Kind::stream);
  const auto one = routes("2", "");
  EXPECT_EQ(one[2][0].kind, Route::Kind::stream);
  EXPECT_TRUE(one[2][1].on_stdout); // stderr goes where stdout goes
  EXPECT_EQ(one[1][0].kind, Route::Kind::discard);
  EXPECT_EQ(routes("4", "")[0][0].path, "/cwd/4"); // no such task: a file
  const auto all = routes("all", "");
  EXPECT_EQ(all[0][1].kind, Route::Kind::stream);
  EXPECT_FALSE(all[0][1].on_stdout);
  EXPECT_EQ(routes("", "1")[1][1].kind, Route::Kind::stream);
  EXPECT_EQ(routes("", "1")[0][1].kind, Route::Kind::discard);
}

InputPlan input(const std::string& word) {
  mux::PatternFields step;
  step.job_id = 7;
  step.step_id = 1;
  return plan_input({word, "/cwd", "/dir"}, step, four_on_two());
}

TEST(InputPlan, all_read_by_default) {
  for (const auto* word : {"", "all"}) {
    const auto plan = input(word);
    EXPECT_EQ(plan.streams_to, std::vector<bool>(4, true));
    EXPECT_EQ(plan.path, "");
    EXPECT_FALSE(plan.only_rank().has_value());
  }
}

TEST(InputPlan, one_none_and_files) {
  EXPECT_EQ(input("2").only_rank(), 2);
  EXPECT_TRUE(input("2").is_streamed());
  for (const auto* word : {"none", "NONE", "/dev/null"})
    EXPECT_FALSE(input(word).is_streamed()) << word;
  const auto shared = input("in.%j.%s");
  EXPECT_EQ(shared.path, "/cwd/in.7.1");
  EXPECT_EQ(shared.streams_to, std::vector<bool>(4, true));
  EXPECT_EQ(input("4").path, "/cwd/4"); // no such task
  const auto own = input("in-%2t-%N");
  EXPECT_FALSE(own.is_streamed());
  EXPECT_EQ(own.files[2], "/dir/in-02-n2");
}

TEST(InputPlan, files_that_cannot_be_read_are_named_as_slurm_does) {
  EXPECT_EQ(open_input("/no/such").error().message,
            "Could not open stdin file: No such file or directory");
  EXPECT_EQ(open_input("/tmp").error().message, "Could not open stdin file: Is a directory");
  EXPECT_TRUE(open_input("/dev/null").has_value());
}

} // namespace
} // namespace shim::commands::srun
