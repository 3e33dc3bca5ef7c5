// Signs of life between front and srun, and the ways of the engine's suspension.
#include "heartbeat.h"
#include "step_fixture.h"

#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/process_tree.h"
#include "slurm_shim/records/mailbox.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "support/temp_dir.h"

namespace {

using namespace shim;
using namespace shim::stepper::test;
using stepper::Heartbeat;
using Verdict = Heartbeat::Verdict;

const Heartbeat::Clock::time_point k_begin{1000s};

TEST(Heartbeat, asks_only_after_silence) {
  Heartbeat heartbeat(10s, 30s, k_begin);
  EXPECT_EQ(heartbeat.next_look(), k_begin + 10s);
  EXPECT_EQ(heartbeat.look(k_begin + 9s, 0s), Verdict::quiet);
  heartbeat.heard(k_begin + 5s);
  EXPECT_EQ(heartbeat.look(k_begin + 10s, 0s), Verdict::quiet);
  EXPECT_EQ(heartbeat.look(k_begin + 20s, 0s), Verdict::ask);
  EXPECT_EQ(heartbeat.next_look(), k_begin + 30s);
}

TEST(Heartbeat, a_stopped_srun_whose_kernel_answers_lives_for_ever) {
  Heartbeat heartbeat(10s, 30s, k_begin);
  for (auto at = k_begin + 10s; at < k_begin + 24h; at += 10s)
    ASSERT_EQ(heartbeat.look(at, 0s), Verdict::ask);
}

TEST(Heartbeat, a_host_that_is_gone_is_dead_after_the_deadline) {
  Heartbeat heartbeat(10s, 30s, k_begin);
  EXPECT_EQ(heartbeat.look(k_begin + 10s, 9s), Verdict::ask);
  EXPECT_EQ(heartbeat.look(k_begin + 20s, 19s), Verdict::ask);
  EXPECT_EQ(heartbeat.look(k_begin + 30s, 29s), Verdict::dead);
}

TEST(Heartbeat, time_in_which_the_front_was_stopped_is_no_silence) {
  Heartbeat heartbeat(10s, 30s, k_begin);
  EXPECT_EQ(heartbeat.look(k_begin + 1h, 1h), Verdict::quiet);
  EXPECT_EQ(heartbeat.look(k_begin + 1h + 10s, 10s), Verdict::ask);
}

TEST(FrontHeartbeat, the_front_asks_a_silent_srun_and_goes_on) {
  Step step;
  auto spec = shell_spec("echo up; read x < /dev/null; sleep 1000");
  spec.ping_interval_ms = 100;
  spec.ping_deadline_ms = 300;
  step.send_spec(spec);
  ASSERT_TRUE(step.read_until([&] { return step.saw(proto::FrameType::ping); }));
  // The deadline passes many times, and the loopback's kernel acknowledges.
  EXPECT_FALSE(step.read_until([&] { return step.rank(0).exit.has_value(); }, 1500ms));
  step.send_signal(SIGKILL);
  EXPECT_TRUE(step.read_until([&] { return step.rank(0).exit.has_value(); }));
}

class Suspension : public testing::Test {
protected:
  void start(const std::string& master_host) {
    ASSERT_TRUE(posix::append_line(m_mailbox, "v1 00112233445566aa suspend\n"));
    auto spec = shell_spec("(sleep 1000 &); setsid sh -c 'echo up; exec sleep 1000'", 2);
    spec.mailbox = m_mailbox;
    spec.master_host = master_host;
    m_step.send_spec(spec);
    ASSERT_TRUE(m_step.read_until(
        [this] { return m_step.rank(0).out == "up\n" && m_step.rank(1).out == "up\n"; }));
  }
  // True when every process of the ranks is (not) stopped.
  bool become(bool stopped) {
    return eventually([this, stopped] {
      const auto all = m_step.rank_processes();
      return !all.empty() && std::all_of(all.begin(), all.end(), [stopped](pid_t pid) {
        const auto stat = posix::read_file("/proc/" + std::to_string(pid) + "/stat");
        return stat && (stat->substr(stat->rfind(')') + 2, 1) == "T") == stopped;
      });
    });
  }
  [[nodiscard]] pid_t canary() const {
    const auto ranks = m_step.rank_processes();
    for (const auto pid : posix::children_of(m_step.guardian()))
      if (std::find(ranks.begin(), ranks.end(), pid) == ranks.end()) return pid;
    return -1;
  }
  bool mailbox_says(const std::string& text) {
    return eventually([&] {
      const auto all = posix::read_file(m_mailbox);
      return all && all->find(text) != std::string::npos;
    });
  }

  shim::test::TempDir m_dir;
  std::string m_mailbox = m_dir.path() + "/4711.mbox";
  Step m_step;
};

TEST_F(Suspension, of_the_canary_stops_the_ranks_and_is_written_down_for_other_hosts) {
  start("node001"); // the fixture's host
  ASSERT_TRUE(become(false));
  const auto watched = canary();
  ASSERT_GT(watched, 0);
  ::kill(watched, SIGSTOP);
  EXPECT_TRUE(become(true));
  EXPECT_TRUE(mailbox_says(" suspend engine\n"));
  ::kill(watched, SIGCONT);
  EXPECT_TRUE(become(false));
  EXPECT_TRUE(mailbox_says(" resume engine\n"));
}

TEST_F(Suspension, of_the_master_host_reaches_the_ranks_of_another_one) {
  start("node000");
  ASSERT_TRUE(become(false)); // what the mailbox held before the step is not about it
  ASSERT_TRUE(records::append_request(m_mailbox, "suspend", {"engine"}));
  EXPECT_TRUE(become(true));
  ASSERT_TRUE(records::append_request(m_mailbox, "resume", {"engine"}));
  EXPECT_TRUE(become(false));
  // It ends like any step.
  m_step.send_signal(SIGTERM);
  EXPECT_TRUE(m_step.read_to_end());
  EXPECT_TRUE(m_step.rank_processes().empty());
}

} // namespace
