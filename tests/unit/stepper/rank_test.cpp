// What a rank is given and how its end is reported.
#include "step_fixture.h"

#include "slurm_shim/posix/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "support/shell_probes.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace shim;
using namespace shim::stepper::test;
using proto::FrameType;
using testing::HasSubstr;
using testing::Not;

TEST(StepperRank, death_by_a_signal_is_128_plus_its_number_and_the_raw_status_tells_it) {
  Step step;
  EXPECT_EQ(step.run(shell_spec("kill -9 $$")), 137);
  ASSERT_TRUE(step.rank(0).exit.has_value());
  EXPECT_EQ(step.rank(0).exit->code, 137);
  EXPECT_TRUE(WIFSIGNALED(step.rank(0).exit->wait_status));
  Step plain;
  EXPECT_EQ(plain.run(shell_spec("exit 137")), 137);
  EXPECT_TRUE(WIFEXITED(plain.rank(0).exit->wait_status));
}

TEST(StepperRank, reasons_why_a_rank_never_ran_are_slurms) {
  char folder[] = "/tmp/stepper-reasons-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const auto path = [&](const char* name) { return std::string(folder) + "/" + name; };
  ASSERT_TRUE(posix::write_file_atomic(path("plain"), "x", 0600).has_value());
  ASSERT_TRUE(posix::write_file_atomic(path("text"), "echo hi\n", 0700).has_value());
  ASSERT_TRUE(posix::write_file_atomic(path("script"), "#!/no/interp\n", 0700).has_value());
  const struct {
    std::string command;
    int code;
    std::string reason;
  } cases[] = {
      {"nosuchcmd_x", 2, "execve(): nosuchcmd_x: No such file or directory"},
      {"/no/such/cmd", 2, "execve(): /no/such/cmd: No such file or directory"},
      {"./nosuch", 2, "execve(): " + path("./nosuch") + ": No such file or directory"},
      {"./plain", 13, "execve(): " + path("./plain") + ": Permission denied"},
      {path("plain"), 13, "execve(): " + path("plain") + ": Permission denied"},
      {folder, 13, "execve(): " + std::string(folder) + ": Permission denied"},
      {"./script", 2, "execve(): bad interpreter(/no/interp): No such file or directory"},
      {"./text", 1, "execve(): " + path("./text") + ": Exec format error"},
  };
  for (const auto& c : cases) {
    auto spec = shell_spec("", 2);
    spec.command = {c.command};
    spec.chdir = folder;
    Step step;
    EXPECT_EQ(step.run(spec), c.code) << c.command;
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(step.rank(i).fail.has_value()) << c.command;
      EXPECT_EQ(step.rank(i).fail->code, c.code);
      EXPECT_EQ(step.rank(i).fail->reason, c.reason);
      EXPECT_FALSE(step.rank(i).exit.has_value());
    }
  }
  for (const auto* name : {"plain", "text", "script"})
    ::unlink(path(name).c_str());
  ::rmdir(folder);
}

TEST(StepperRank, the_environment_is_the_steps_with_delta_host_and_pid_and_without_the_token) {
  // Not by a shell, which would drop names that it does not like.
  auto spec = shell_spec("");
  spec.command = {"perl", "-e", "print \"$_=$ENV{$_}\\n\" for keys %ENV; print \"pid-$$\\n\""};
  spec.env = {"PATH=/bin:/usr/bin",
              "SLURM_PROCID=99",
              "SLURM_TASK_PID=1",
              "EMPTY=",
              "BASH_FUNC_f%%=() { :; }"};
  spec.gpu_env_var = "CUDA_VISIBLE_DEVICES";
  spec.ranks[0].gpus = {"2", "3"};
  Step step;
  EXPECT_EQ(step.run(spec), 0);
  const auto& out = step.rank(0).out;
  EXPECT_THAT(out, HasSubstr("SLURM_PROCID=0\n"));
  EXPECT_THAT(out, Not(HasSubstr("SLURM_PROCID=99\n")));
  EXPECT_THAT(out, HasSubstr("SLURMD_NODENAME=node001\n"));
  EXPECT_THAT(out, HasSubstr("CUDA_VISIBLE_DEVICES=2,3\n"));
  EXPECT_THAT(out, HasSubstr("EMPTY=\n"));
  EXPECT_THAT(out, HasSubstr("BASH_FUNC_f%%=() { :; }\n"));
  const auto pid = out.substr(out.find("pid-") + 4);
  EXPECT_THAT(out, HasSubstr("SLURM_TASK_PID=" + pid));
  EXPECT_THAT(out, Not(HasSubstr("SLURM_TASK_PID=1\n")));
  EXPECT_THAT(out, Not(HasSubstr("SLURM_SHIM_TOKEN")));
  EXPECT_THAT(out, Not(HasSubstr(k_test_token)));
}

TEST(StepperRank, the_token_is_gone_from_the_steppers_own_environment_and_argv) {
  Step step;
  step.send_spec(shell_spec("sleep 1000"));
  ASSERT_TRUE(eventually([&] { return !step.rank_processes().empty(); }));
  // Not dumpable: nobody but root may even look. As root the wiped bytes are seen.
  for (const auto pid : {step.front(), step.guardian()})
    for (const char* file : {"/environ", "/cmdline"}) {
      const auto text = posix::read_file("/proc/" + std::to_string(pid) + file);
      EXPECT_THAT(text.value_or(""), Not(HasSubstr(k_test_token)));
    }
}

TEST(StepperRank, signals_descriptors_group_and_limits_are_those_of_a_fresh_program) {
  const int leaky = ::fcntl(2, F_DUPFD, 251);
  auto spec =
      shell_spec(std::string(test::k_show_signals) + "; " + test::k_list_descriptors +
                 "; echo; "
                 "read -r pid _ _ _ pgrp _ </proc/$$/stat; test $pid = $pgrp && echo leader; "
                 "echo limit $(ulimit -Sn); readlink /proc/$$/fd/0");
  Step step;
  ::close(leaky);
  EXPECT_EQ(step.run(spec), 0);
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_EQ(step.rank(0).out,
            "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n0 1 2 \nleader\nlimit " +
                std::to_string(limit.rlim_cur) + "\n/dev/null\n");
}

TEST(StepperRank, the_directory_is_the_steps_and_a_missing_one_fails_only_when_it_was_asked_for) {
  auto spec = shell_spec("pwd", 2);
  spec.chdir = "/usr";
  {
    Step step;
    EXPECT_EQ(step.run(spec), 0);
    EXPECT_EQ(step.rank(1).out, "/usr\n");
  }
  spec.chdir = "/no/such";
  {
    ::setenv("TMPDIR", "/tmp", 1); // NOLINT(concurrency-mt-unsafe)
    Step step;
    EXPECT_EQ(step.run(spec), 0);
    EXPECT_EQ(step.rank(0).out + step.rank(1).out, "/tmp\n/tmp\n");
    EXPECT_EQ(step.rank(0).err + step.rank(1).err,
              "slurmstepd-node001: error: couldn't chdir to `/no/such': No such file or directory: "
              "going to /tmp instead\n");
  }
  spec.chdir_explicit = true;
  Step step;
  EXPECT_EQ(step.run(spec), 1);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(step.rank(i).fail.has_value());
    EXPECT_EQ(step.rank(i).fail->reason, "couldn't chdir to `/no/such': No such file or directory");
  }
}

TEST(StepperRank, cpus_that_are_not_there_bind_nothing_and_an_unreadable_list_is_a_failure) {
  auto spec = shell_spec("echo ran", 2);
  spec.ranks[0].cpuset = "100000";
  spec.ranks[1].cpuset = "3-1";
  Step step;
  EXPECT_EQ(step.run(spec), 1);
  EXPECT_EQ(step.rank(0).out, "ran\n");
  EXPECT_EQ(step.rank(0).err, "");
  ASSERT_TRUE(step.rank(1).fail.has_value());
  EXPECT_EQ(step.rank(1).fail->reason, "invalid cpu range \"3-1\"");
}

TEST(StepperRank, an_unknown_device_variable_fails_every_rank) {
  auto spec = shell_spec("true", 2);
  spec.gpu_env_var = "LD_PRELOAD";
  Step step;
  EXPECT_EQ(step.run(spec), 1);
  ASSERT_TRUE(step.rank(1).fail.has_value());
  EXPECT_EQ(step.rank(1).fail->reason, "unknown device variable \"LD_PRELOAD\"");
}

TEST(StepperRank, a_large_description_comes_in_pieces_between_which_pings_are_answered) {
  auto spec = shell_spec("printf %s \"${#BIG}\"");
  spec.env.push_back("BIG=" + std::string(100000, 'x'));
  Step step;
  step.send(FrameType::ping, {});
  ASSERT_TRUE(step.read_until([&] { return step.saw(FrameType::pong); }));
  step.send_spec(spec, 1000);
  ASSERT_TRUE(step.read_to_end());
  EXPECT_EQ(step.rank(0).out, "100000");
}

TEST(StepperRank, pings_are_answered_and_unknown_frames_ignored_while_ranks_run) {
  Step step;
  step.send_spec(shell_spec("echo up; sleep 1000"));
  ASSERT_TRUE(step.read_until([&] { return step.rank(0).out == "up\n"; }));
  step.send(static_cast<FrameType>(99), "whatever");
  step.send(FrameType::ping, {});
  EXPECT_TRUE(step.read_until([&] { return step.saw(FrameType::pong); }));
  step.send_signal(SIGKILL);
  EXPECT_TRUE(step.read_to_end());
  EXPECT_EQ(step.rank(0).exit->code, 137);
}

TEST(StepperRank, sixty_four_ranks_report_each_once) {
  Step step;
  EXPECT_EQ(step.run(shell_spec("echo $SLURM_PROCID", 64)), 0);
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(step.rank(i).out, std::to_string(i) + "\n");
    EXPECT_TRUE(step.rank(i).exit.has_value());
  }
}

TEST(StepperRank, a_description_that_does_not_parse_ends_the_stepper_with_1) {
  Step step;
  step.send(FrameType::spec, "{\"command\": [");
  EXPECT_TRUE(step.read_to_end());
  EXPECT_EQ(WEXITSTATUS(step.wait_stepper()), 1);
}

} // namespace
