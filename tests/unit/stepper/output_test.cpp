#include "step_fixture.h"

#include "slurm_shim/posix/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace shim;
using namespace shim::stepper::test;
using proto::FrameType;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(StepperOutput, hello_names_token_host_and_version) {
  Step step;
  const auto hello = proto::parse_hello(step.hello());
  ASSERT_TRUE(hello.has_value());
  EXPECT_EQ(hello->token, k_test_token);
  EXPECT_EQ(hello->host, "node001");
  EXPECT_EQ(hello->version, "v=1");
}

TEST(StepperOutput, both_streams_of_every_rank_arrive_before_its_exit) {
  Step step;
  const int code = step.run(
      shell_spec("echo out $SLURM_PROCID; echo err $SLURM_PROCID >&2; exit $SLURM_PROCID", 3));
  EXPECT_EQ(code, 2);
  EXPECT_TRUE(step.saw(FrameType::ready));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(step.rank(i).out, "out " + std::to_string(i) + "\n");
    EXPECT_EQ(step.rank(i).err, "err " + std::to_string(i) + "\n");
    ASSERT_TRUE(step.rank(i).exit.has_value());
    EXPECT_EQ(step.rank(i).exit->code, i);
    EXPECT_EQ(step.rank(i).exit->wait_status, i << 8);
    EXPECT_FALSE(step.rank(i).output_after_end);
  }
}

TEST(StepperOutput, not_a_byte_is_added_or_lost) {
  const struct {
    const char* script;
    std::string expected;
  } cases[] = {
      {"printf 'no line feed'", "no line feed"},
      {"printf 'a\\n\\n\\nb\\n'", "a\n\n\nb\n"},
      {"printf '\\n'", "\n"},
      {"printf 'x\\000y\\377\\r\\nz'", std::string("x\0y\xff\r\nz", 7)},
      {"true", ""},
  };
  for (const auto& c : cases) {
    Step step;
    EXPECT_EQ(step.run(shell_spec(c.script)), 0) << c.script;
    EXPECT_EQ(step.rank(0).out, c.expected) << c.script;
  }
}

TEST(StepperOutput, megabytes_of_binary_and_long_lines_come_through_whole) {
  char name[] = "/tmp/stepper-bytes-XXXXXX";
  const posix::Fd file(::mkstemp(name));
  std::string bytes;
  unsigned state = 12345;
  for (int i = 0; i < 3 << 20; ++i) {
    state = state * 1664525U + 1013904223U;
    bytes += static_cast<char>(state >> 24);
  }
  bytes +=
      std::string(200000, 'x') + "\n" + std::string(65536, 'y') + "\n" + std::string(65537, 'z');
  ASSERT_EQ(posix::write_all(file.get(), bytes), 0);
  Step step;
  EXPECT_EQ(step.run(shell_spec(std::string("cat ") + name + "; cat " + name + " >&2")), 0);
  EXPECT_TRUE(step.rank(0).out == bytes);
  EXPECT_TRUE(step.rank(0).err == bytes);
  ::unlink(name);
}

TEST(StepperOutput, an_open_line_is_shown_after_a_moment_unless_lines_are_labelled) {
  const std::string script = "printf 'prompt> '; read -r line < $FIFO; echo done";
  for (const bool label : {false, true}) {
    char folder[] = "/tmp/stepper-fifo-XXXXXX";
    ASSERT_NE(::mkdtemp(folder), nullptr);
    const auto fifo = std::string(folder) + "/f";
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    auto spec = shell_spec(script);
    spec.label = label;
    spec.env.push_back("FIFO=" + fifo);
    Step step;
    step.send_spec(spec);
    if (!label) {
      EXPECT_TRUE(step.read_until([&] { return step.rank(0).out == "prompt> "; }));
    }
    const auto writer = posix::open_file(fifo, O_WRONLY);
    ASSERT_TRUE(writer.has_value());
    ASSERT_EQ(posix::write_all(writer->get(), "go\n"), 0);
    EXPECT_TRUE(step.read_to_end());
    EXPECT_EQ(step.rank(0).out, "prompt> done\n");
    if (label) {
      EXPECT_THAT(step.rank(0).chunks, ElementsAre("prompt> done\n"));
    }
    ::unlink(fifo.c_str());
    ::rmdir(folder);
  }
}

TEST(StepperOutput, a_reader_that_stops_holds_the_ranks_back_and_loses_nothing) {
  char name[] = "/tmp/stepper-progress-XXXXXX";
  const posix::Fd file(::mkstemp(name));
  auto spec = shell_spec("i=0; while [ $i -lt 400 ]; do head -c 65535 /dev/zero; echo; "
                         "i=$((i+1)); echo $i > $PROGRESS; done");
  spec.env.push_back(std::string("PROGRESS=") + name);
  Step step;
  step.send_spec(spec);
  // Nothing is read here until the writer makes no progress any more.
  std::string last;
  int same = 0;
  ASSERT_TRUE(eventually([&] {
    const auto now = posix::read_file(name).value_or("");
    same = now == last ? same + 1 : 0;
    last = now;
    return !now.empty() && same > 60;
  }));
  EXPECT_NE(last, "400\n");
  EXPECT_TRUE(step.read_to_end());
  EXPECT_EQ(step.rank(0).out.size(), 400U * 65536U);
  ASSERT_TRUE(step.rank(0).exit.has_value());
  EXPECT_EQ(step.rank(0).exit->code, 0);
  ::unlink(name);
}

TEST(StepperOutput, who_holds_the_pipe_delays_the_report_by_two_seconds_and_is_then_ended) {
  Step step;
  step.send_spec(shell_spec("sleep 1000 & echo first; exit 3"));
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(step.read_until([&] { return step.rank(0).exit.has_value(); }));
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GT(took, 1500ms);
  EXPECT_LT(took, 10s);
  EXPECT_EQ(step.rank(0).exit->code, 3);
  EXPECT_EQ(step.rank(0).out, "first\n");
  EXPECT_TRUE(step.rank_processes().empty());
  EXPECT_EQ(WEXITSTATUS(step.wait_stepper()), 3);
}

class StepperFiles : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/stepper-files-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    m_folder = name;
  }
  void TearDown() override {
    for (const auto* file : {"/out", "/err"})
      ::unlink((m_folder + file).c_str());
    ::rmdir(m_folder.c_str());
  }
  std::string m_folder;
};

TEST_F(StepperFiles, output_goes_into_files_and_both_streams_may_share_one) {
  auto spec = shell_spec("echo one; echo two >&2; echo three", 2);
  spec.ranks[0].stdout_file = spec.ranks[0].stderr_file = m_folder + "/out";
  spec.ranks[1].stderr_file = m_folder + "/err";
  Step step;
  EXPECT_EQ(step.run(spec), 0);
  EXPECT_EQ(posix::read_file(m_folder + "/out").value(), "one\ntwo\nthree\n");
  EXPECT_EQ(posix::read_file(m_folder + "/err").value(), "two\n");
  EXPECT_EQ(step.rank(0).out + step.rank(0).err, "");
  EXPECT_EQ(step.rank(1).out, "one\nthree\n");
}

TEST_F(StepperFiles, a_file_is_truncated_or_appended_to_as_asked) {
  ASSERT_TRUE(posix::write_file_atomic(m_folder + "/out", "old\n").has_value());
  auto spec = shell_spec("echo new");
  spec.ranks[0].stdout_file = m_folder + "/out";
  spec.open_append = true;
  {
    Step step;
    EXPECT_EQ(step.run(spec), 0);
    EXPECT_EQ(posix::read_file(m_folder + "/out").value(), "old\nnew\n");
  }
  spec.open_append = false;
  Step step;
  EXPECT_EQ(step.run(spec), 0);
  EXPECT_EQ(posix::read_file(m_folder + "/out").value(), "new\n");
}

TEST_F(StepperFiles, one_that_cannot_be_opened_fails_all_ranks_and_starts_none) {
  auto spec = shell_spec("echo ran > " + m_folder + "/err", 3);
  spec.ranks[1].stdout_file = "/no/such/place/out";
  Step step;
  EXPECT_EQ(step.run(spec), 1);
  EXPECT_FALSE(step.saw(FrameType::ready));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(step.rank(i).fail.has_value());
    EXPECT_EQ(step.rank(i).fail->code, 1);
    EXPECT_EQ(step.rank(i).fail->reason, "opening /no/such/place/out: No such file or directory");
  }
  EXPECT_FALSE(posix::exists(m_folder + "/err"));
}

} // namespace
