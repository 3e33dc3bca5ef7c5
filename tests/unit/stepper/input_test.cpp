#include "step_fixture.h"

#include "slurm_shim/posix/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "support/temp_dir.h"

namespace {

using namespace shim;
using namespace shim::stepper::test;
using proto::FrameType;
using testing::HasSubstr;

proto::StepSpec reading_spec(const std::string& script, int count = 1) {
  auto spec = shell_spec(script, count);
  for (auto& rank : spec.ranks)
    rank.reads_stdin = true;
  return spec;
}

void send_input(Step& step, std::string_view bytes, std::uint8_t flags = 0) {
  step.send(FrameType::in, bytes, flags, proto::k_all_ranks);
}

TEST(StepperInput, all_readers_get_it_and_the_end) {
  Step step;
  auto spec = reading_spec("cat; echo end", 3);
  spec.ranks[2].reads_stdin = false;
  step.send_spec(spec);
  send_input(step, "one\n");
  send_input(step, "two\n", proto::k_in_end);
  EXPECT_TRUE(step.read_to_end());
  EXPECT_EQ(step.rank(0).out, "one\ntwo\nend\n");
  EXPECT_EQ(step.rank(1).out, "one\ntwo\nend\n");
  EXPECT_EQ(step.rank(2).out, "end\n");
}

TEST(StepperInput, one_rank_alone_may_be_meant) {
  Step step;
  auto spec = reading_spec("cat", 2);
  spec.ranks[0].reads_stdin = false;
  step.send_spec(spec);
  step.send(FrameType::in, "for one", proto::k_in_end, 1);
  EXPECT_TRUE(step.read_to_end());
  EXPECT_EQ(step.rank(0).out, "");
  EXPECT_EQ(step.rank(1).out, "for one");
}

TEST(StepperInput, a_file_of_the_ranks_own) {
  const test::TempDir folder;
  ASSERT_TRUE(posix::write_file_atomic(folder / "in", "content").has_value());
  auto spec = shell_spec("cat");
  spec.ranks[0].stdin_file = folder / "in";
  Step step;
  EXPECT_EQ(step.run(spec), 0);
  EXPECT_EQ(step.rank(0).out, "content");
  spec.ranks[0].stdin_file = folder / "missing";
  Step failing;
  EXPECT_EQ(failing.run(spec), 1);
  ASSERT_TRUE(failing.rank(0).fail.has_value());
  EXPECT_THAT(failing.rank(0).fail->reason, HasSubstr("missing: No such file or directory"));
}

TEST(StepperInput, credit_follows_what_was_taken) {
  Step step;
  step.send_spec(reading_spec("read -r line; echo $line; cat >/dev/null"));
  const std::string block(proto::k_input_window, '\n');
  send_input(step, "go\n" + block.substr(3));
  EXPECT_TRUE(step.read_until([&] { return step.credit() >= proto::k_input_window / 2; }));
  send_input(step, {}, proto::k_in_end);
  EXPECT_TRUE(step.read_to_end());
  EXPECT_EQ(step.rank(0).out, "go\n");
}

TEST(StepperInput, the_last_reader_that_leaves_is_told) {
  Step step;
  step.send_spec(reading_spec("exec <&-; echo closed; exec sleep 1000"));
  EXPECT_TRUE(step.read_until([&] { return step.saw(FrameType::in_ack); }));
  EXPECT_EQ(step.credit(), 0U);
  step.send_signal(SIGKILL);
  EXPECT_TRUE(step.read_to_end());
}

proto::StepSpec terminal_spec(const std::string& script) {
  auto spec = shell_spec(script);
  spec.unbuffered = true;
  spec.ranks[0].on_terminal = true;
  spec.ranks[0].reads_stdin = true;
  // Echo off, so that what comes back is the program's alone; output as it is.
  spec.terminal = posix::TerminalState{
      {40, 100, 0, 0},
      {0x100 /* ICRNL */, 0, 0xbf, 0x03 /* ISIG ICANON */, "\x03\x1c\x7f\x15\x04"}};
  return spec;
}

TEST(StepperTerminal, the_rank_has_it_as_controlling_terminal_with_size_and_modes) {
  Step step;
  step.send_spec(terminal_spec("tty >/dev/null && echo tty; stty size; : > /dev/tty && echo ctty; "
                               "stty -a | grep -ow -- -echo"));
  EXPECT_TRUE(step.read_to_end());
  EXPECT_EQ(step.rank(0).out, "tty\n40 100\nctty\n-echo\n");
  EXPECT_EQ(step.rank(0).err, "");
  ASSERT_TRUE(step.rank(0).exit.has_value());
  EXPECT_EQ(step.rank(0).exit->code, 0);
}

TEST(StepperTerminal, keys_window_and_interrupt_reach_the_foreground) {
  Step step;
  step.send_spec(terminal_spec("trap 'echo int' INT; trap 'stty size; exit 7' WINCH; echo up; "
                               "while :; do read -r line && echo got $line; done"));
  ASSERT_TRUE(step.read_until([&] { return step.rank(0).out == "up\n"; }));
  send_input(step, "key\r");
  ASSERT_TRUE(step.read_until([&] { return step.rank(0).out == "up\ngot key\n"; }));
  send_input(step, "\x03");
  ASSERT_TRUE(step.read_until([&] { return step.rank(0).out == "up\ngot key\nint\n"; }));
  step.send(FrameType::window_size, proto::encode_window_size({25, 81, 0, 0}));
  EXPECT_TRUE(step.read_to_end());
  EXPECT_EQ(step.rank(0).out, "up\ngot key\nint\n25 81\n");
  EXPECT_EQ(step.rank(0).exit->code, 7);
}

TEST(StepperTerminal, the_end_of_the_users_terminal_hangs_the_ranks_up) {
  Step step;
  step.send_spec(terminal_spec("echo up; while :; do read -r line; done"));
  ASSERT_TRUE(step.read_until([&] { return step.rank(0).out == "up\n"; }));
  send_input(step, {}, proto::k_in_end);
  EXPECT_TRUE(step.read_to_end());
  EXPECT_EQ(step.rank(0).exit->wait_status, SIGHUP);
}

} // namespace
