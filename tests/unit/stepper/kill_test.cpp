// Signals, and the promise that nothing of a step outlives its supervisors: decision E1.
#include "step_fixture.h"

#include "slurm_shim/posix/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <sstream>

#include "support/temp_dir.h"
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace shim;
using namespace shim::stepper::test;
using Clock = std::chrono::steady_clock;

// Rank 0 plain, 1 ignores TERM, 2 has a child in a session of its own, 3 a daemon (double fork);
// each says "up" when everything it starts is there. Nine processes.
constexpr const char* k_four_kinds = R"(
quiet='trap "" TERM INT HUP'
case $SLURM_PROCID in
0) echo up; exec sleep 1000;;
1) eval "$quiet"; echo up; while :; do sleep 1000; done;;
2) setsid sh -c "$quiet; echo up; while :; do sleep 1000; done" & wait;;
3) (setsid sh -c "$quiet; echo up; while :; do sleep 1000; done" &); exec sleep 1000;;
esac
)";

class StepperKill : public testing::Test {
protected:
  void start() {
    m_step.send_spec(shell_spec(k_four_kinds, 4));
    ASSERT_TRUE(m_step.read_until([this] {
      for (int i = 0; i < 4; ++i)
        if (m_step.rank(i).out != "up\n") return false;
      return true;
    }));
    m_guardian = m_step.guardian();
    ASSERT_GT(m_guardian, 0);
  }
  [[nodiscard]] bool is_gone(pid_t pid) const {
    return !posix::exists("/proc/" + std::to_string(pid));
  }
  bool all_gone_within(std::chrono::milliseconds limit) {
    return eventually([this] { return m_step.rank_processes().empty(); }, limit);
  }

  Step m_step;
  pid_t m_guardian = -1;
};

TEST_F(StepperKill, front_killed_the_guardian_sweeps_at_once) {
  start();
  ::kill(m_step.front(), SIGKILL);
  EXPECT_TRUE(all_gone_within(2s));
  EXPECT_TRUE(m_step.read_to_end()); // srun sees the end of the connection
}

TEST_F(StepperKill, front_killed_during_a_grace_ends_the_grace) {
  start();
  m_step.hang_up();
  ASSERT_TRUE(eventually([this] { return m_step.rank_processes().size() < 9; }));
  ::kill(m_step.front(), SIGKILL);
  EXPECT_TRUE(all_gone_within(2s));
}

TEST_F(StepperKill, guardian_killed_the_front_sweeps_and_leaves_with_8) {
  start();
  ::kill(m_guardian, SIGKILL);
  EXPECT_TRUE(m_step.read_to_end());
  EXPECT_TRUE(all_gone_within(2s));
  EXPECT_EQ(WEXITSTATUS(m_step.wait_stepper()), 8);
  for (int i = 0; i < 4; ++i)
    EXPECT_FALSE(m_step.rank(i).exit || m_step.rank(i).fail) << i;
}

TEST_F(StepperKill, channel_lost_term_then_five_seconds_then_kill) {
  start();
  const auto begin = Clock::now();
  m_step.hang_up();
  EXPECT_TRUE(all_gone_within(10s));
  const auto took = Clock::now() - begin;
  EXPECT_GT(took, 4s);
  const int status = m_step.wait_stepper();
  EXPECT_TRUE(WIFEXITED(status)); // never by a signal: decision 7a
  EXPECT_TRUE(is_gone(m_guardian));
}

TEST_F(StepperKill, term_to_the_front_ends_the_ranks_reports_them_and_exits_143) {
  start();
  ::kill(m_step.front(), SIGTERM);
  EXPECT_TRUE(m_step.read_to_end());
  EXPECT_EQ(WEXITSTATUS(m_step.wait_stepper()), 143);
  EXPECT_TRUE(m_step.rank_processes().empty());
  EXPECT_EQ(m_step.rank(0).exit->code, 143);
  EXPECT_EQ(m_step.rank(1).exit->code, 137); // it ignored TERM
}

TEST_F(StepperKill, signals_of_a_group_do_not_end_front_or_guardian) {
  start();
  for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGPIPE, SIGXCPU}) {
    ::kill(m_step.front(), number);
    ::kill(m_guardian, SIGTERM);
  }
  m_step.send(proto::FrameType::ping, {});
  EXPECT_TRUE(m_step.read_until([this] { return m_step.saw(proto::FrameType::pong); }));
  EXPECT_EQ(m_step.rank_processes().size() >= 6, true);
  m_step.send_signal(SIGKILL);
  EXPECT_TRUE(m_step.read_to_end());
}

TEST_F(StepperKill, sig_9_ends_whatever_belongs_to_the_step_and_every_rank_is_reported) {
  start();
  m_step.send_signal(SIGKILL);
  EXPECT_TRUE(m_step.read_to_end());
  EXPECT_TRUE(m_step.rank_processes().empty());
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(m_step.rank(i).exit.has_value());
    EXPECT_EQ(m_step.rank(i).exit->code, 137);
  }
  EXPECT_EQ(WEXITSTATUS(m_step.wait_stepper()), 137);
}

TEST_F(StepperKill, the_engines_stop_and_continue_reach_every_process_through_the_canary) {
  start();
  // The canary is the guardian's child that has stayed in the front's group.
  const auto stat_word = [](pid_t pid, int index) {
    const auto text = posix::read_file("/proc/" + std::to_string(pid) + "/stat").value_or(")");
    std::istringstream words(text.substr(text.rfind(')') + 1));
    std::string word;
    for (int i = 0; i <= index; ++i)
      words >> word;
    return word;
  };
  const auto children = posix::read_file("/proc/" + std::to_string(m_guardian) + "/task/" +
                                         std::to_string(m_guardian) + "/children");
  ASSERT_TRUE(children.has_value());
  std::istringstream pids(*children);
  pid_t canary = -1;
  for (pid_t pid = 0; pids >> pid;)
    if (stat_word(pid, 2) == std::to_string(::getpgid(m_step.front()))) canary = pid;
  ASSERT_GT(canary, 0);
  const auto all_in_state = [&](bool stopped) {
    const auto processes = m_step.rank_processes();
    return processes.size() >= 6 && std::all_of(processes.begin(), processes.end(), [&](pid_t pid) {
             return (stat_word(pid, 0) == "T") == stopped;
           });
  };
  EXPECT_TRUE(all_in_state(false));
  ::kill(canary, SIGSTOP);
  EXPECT_TRUE(eventually([&] { return all_in_state(true); }));
  ::kill(canary, SIGCONT);
  EXPECT_TRUE(eventually([&] { return all_in_state(false); }));
  ::kill(canary, SIGSTOP);
  EXPECT_TRUE(eventually([&] { return all_in_state(true); }));
  ::kill(m_step.front(), SIGKILL); // qdel of a suspended job
  EXPECT_TRUE(all_gone_within(2s));
}

TEST(StepperSignal, reaches_every_rank_in_order_and_numbers_that_are_none_are_ignored) {
  Step step;
  step.send_spec(shell_spec("trap 'echo usr1' USR1; trap 'echo usr2; exit 7' USR2; echo up; "
                            "while :; do sleep 0.05; done",
                            3));
  const auto all = [&](const std::string& text) {
    return step.read_until([&] {
      for (int i = 0; i < 3; ++i)
        if (step.rank(i).out != text) return false;
      return true;
    });
  };
  ASSERT_TRUE(all("up\n"));
  step.send_signal(0);
  step.send_signal(65);
  step.send_signal(-9);
  step.send_signal(SIGUSR1);
  ASSERT_TRUE(all("up\nusr1\n"));
  step.send_signal(SIGUSR2);
  EXPECT_TRUE(step.read_to_end());
  EXPECT_EQ(step.rank(2).out, "up\nusr1\nusr2\n");
  EXPECT_EQ(step.rank(2).exit->code, 7);
}

TEST(StepperSignal, one_that_comes_with_the_description_reaches_ranks_that_start_later) {
  Step step;
  step.send_spec(shell_spec("sleep 1000", 20));
  step.send_signal(SIGTERM);
  EXPECT_TRUE(step.read_to_end());
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(step.rank(i).exit.has_value()) << i;
    EXPECT_EQ(step.rank(i).exit->code, 143);
  }
}

TEST(StepperSignal, term_while_waiting_for_the_description_exits_143_and_eof_1) {
  Step first;
  ::kill(first.front(), SIGTERM);
  EXPECT_EQ(WEXITSTATUS(first.wait_stepper()), 143);
  Step second;
  second.hang_up();
  EXPECT_EQ(WEXITSTATUS(second.wait_stepper()), 1);
}

// A relay's rank is an srun: its children stand for clients that may not be killed.
proto::StepSpec relay_spec(const std::string& traps, const std::string& client) {
  auto spec = shell_spec("setsid sh -c 'trap \"\" TERM PIPE HUP; " + client + "' & " + traps +
                         "echo up; while :; do sleep 0.05; done");
  spec.is_relay = true;
  return spec;
}

TEST(StepperRelay, is_told_in_words_that_an_srun_knows_and_its_clients_leave_by_themselves) {
  Step step;
  step.send_spec(
      relay_spec("trap 'echo stop' TSTP; trap 'echo kill; exit 7' PIPE; ", "sleep 1.5; echo left"));
  ASSERT_TRUE(step.read_until([&] { return step.rank(0).out == "up\n"; }));
  step.send_signal(SIGSTOP);
  ASSERT_TRUE(step.read_until([&] { return step.rank(0).out == "up\nstop\n"; }));
  step.send_signal(SIGKILL);
  EXPECT_TRUE(step.read_to_end());
  EXPECT_EQ(step.rank(0).out, "up\nstop\nkill\nleft\n");
  ASSERT_TRUE(step.rank(0).exit.has_value());
  EXPECT_EQ(step.rank(0).exit->code, 7);
}

TEST(StepperRelay, channel_lost_it_is_asked_twice_and_its_clients_are_left_alone) {
  const test::TempDir folder;
  Step step;
  step.send_spec(relay_spec("trap 'echo term >> " + folder.path() +
                                "/asked' TERM; trap 'echo kill >> " + folder.path() +
                                "/asked; exit 0' PIPE; ",
                            "sleep 6.5; touch " + folder.path() + "/left"));
  ASSERT_TRUE(step.read_until([&] { return step.rank(0).out == "up\n"; }));
  step.hang_up();
  EXPECT_TRUE(WIFEXITED(step.wait_stepper()));
  EXPECT_EQ(posix::read_file(folder.path() + "/asked").value_or(""), "term\nkill\n");
  EXPECT_TRUE(posix::exists(folder.path() + "/left"));
}

TEST(StepperRelay, an_engine_that_ends_the_front_ends_everything) {
  Step step;
  step.send_spec(relay_spec("trap '' TERM PIPE; ", "sleep 1000"));
  ASSERT_TRUE(step.read_until([&] { return step.rank(0).out == "up\n"; }));
  step.hang_up();
  ::kill(step.front(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return step.rank_processes().empty(); }, 4s));
}

TEST(StepperEnd, strays_of_ranks_that_ended_by_themselves_are_gone_when_the_last_report_comes) {
  Step step;
  step.send_spec(shell_spec("setsid sh -c 'trap \"\" TERM; sleep 1000' >/dev/null 2>&1 & "
                            "(setsid sleep 1000 >/dev/null 2>&1 &); exit 0",
                            2));
  ASSERT_TRUE(step.read_until([&] { return step.rank(0).exit && step.rank(1).exit; }));
  EXPECT_TRUE(step.rank_processes().empty());
  EXPECT_TRUE(step.read_to_end());
  EXPECT_EQ(WEXITSTATUS(step.wait_stepper()), 0);
}

} // namespace
