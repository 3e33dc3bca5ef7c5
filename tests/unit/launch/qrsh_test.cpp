#include "slurm_shim/launch/qrsh.h"

#include <gtest/gtest.h>

#include "support/case_file.h"

namespace shim::launch {
namespace {

using namespace std::chrono_literals;

const QrshTarget k_target{"node002", "/opt/slurm-shim/bin/slurm-shim", "QQ=="};

TEST(QrshArgs, have_the_form_of_the_founding_text) {
  const auto recorded = test::cases_of("qrsh_argv")[0];
  EXPECT_EQ(build_qrsh_args_with_token(k_target, "t0ken"),
            recorded["out"].get<std::vector<std::string>>());
}

TEST(QrshArgs, never_hold_the_token) {
  const auto args = build_qrsh_args(k_target);
  EXPECT_EQ(args,
            (std::vector<std::string>{"-inherit",
                                      "-nostdin",
                                      "-noshell",
                                      "-v",
                                      "SLURM_SHIM_TOKEN",
                                      "node002",
                                      "/opt/slurm-shim/bin/slurm-shim",
                                      "stepper",
                                      "--envelope",
                                      "QQ=="}));
}

TEST(QrshArgs, are_shown_without_the_token) {
  std::string want = "qrsh";
  const auto recorded = test::cases_of("qrsh_argv")[0];
  for (const auto& word : recorded["redacted"])
    want += " " + word.get<std::string>();
  EXPECT_EQ(printable_qrsh_command(build_qrsh_args_with_token(k_target, "t0ken")), want);
}

TEST(QrshEnvironment, loses_the_two_wrappers_only) {
  const auto recorded = test::cases_of("qrsh_env")[0];
  const EnvList own(recorded["in"].get<std::vector<std::string>>());
  EXPECT_EQ(qrsh_environment(own).entries(), recorded["out"].get<std::vector<std::string>>());
}

TEST(Rejection, is_classified_as_recorded) {
  for (const auto& c : test::cases_of("qrsh_classify")) {
    // The original retried an invalid JOB_ID for ten seconds; its note says fatal.
    const auto want = c.value("port", "") == "differs" ? c["port_note"] : c["out"];
    EXPECT_EQ(describe(classify_rejection(c["stderr"].get<std::string>())), want.get<std::string>())
        << c.dump();
  }
}

TEST(RetryPolicy, bounds_each_class_from_the_first_try) {
  const RetryPolicy::Clock::time_point begin{};
  const RetryPolicy policy(begin);
  EXPECT_TRUE(policy.after(Rejection::fatal, begin).give_up);
  EXPECT_EQ(policy.after(Rejection::job_race, begin + 9999ms).delay, 500ms);
  EXPECT_FALSE(policy.after(Rejection::job_race, begin + 9999ms).give_up);
  EXPECT_TRUE(policy.after(Rejection::job_race, begin + 10s).give_up);
  EXPECT_EQ(policy.after(Rejection::slots, begin + 299s).delay, 2s);
  EXPECT_FALSE(policy.after(Rejection::slots, begin + 299s).give_up);
  EXPECT_TRUE(policy.after(Rejection::slots, begin + 5min).give_up);
}

TEST(GiveUp, says_host_class_and_what_qrsh_said_on_one_line) {
  const auto args = build_qrsh_args(k_target);
  EXPECT_EQ(give_up_message(Rejection::job_race, "node002", args, "error: a\n\n error: b \n"),
            "qrsh launch on node002 kept failing (job not yet known to execd): error: a; error: b");
  EXPECT_EQ(give_up_message(Rejection::slots, "node002", args, ""),
            "qrsh launch on node002 kept failing (slots unavailable past slot_retry bound): "
            "no message");
  EXPECT_EQ(give_up_message(Rejection::fatal, "node002", args, "error: x")
                .find("qrsh launch on node002 failed: error: x (command: qrsh -inherit "),
            0U);
}

TEST(StderrTail, keeps_the_last_8_KiB) {
  StderrTail tail;
  tail.append(std::string(8000, 'a'));
  tail.append(std::string(1000, 'b'));
  EXPECT_EQ(tail.text(), std::string(7192, 'a') + std::string(1000, 'b'));
  tail.append(std::string(20000, 'c') + "end");
  EXPECT_EQ(tail.text().size(), 8192U);
  EXPECT_EQ(tail.text().substr(8189), "end");
}

} // namespace
} // namespace shim::launch
