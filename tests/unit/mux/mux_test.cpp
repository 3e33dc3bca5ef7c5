#include "slurm_shim/mux/output.h"
#include "slurm_shim/mux/pattern.h"

#include <gtest/gtest.h>

#include <thread>

#include "support/case_file.h"
#include <fcntl.h>
#include <unistd.h>

namespace shim::mux {
namespace {

PatternFields fields_of(const nlohmann::json& f) {
  PatternFields out;
  out.job_id = f["JobID"];
  out.array_job_id = f["ArrayJobID"];
  out.array_task_id = f["ArrayTaskID"].get<std::int64_t>();
  out.step_id = f["StepID"].get<int>();
  out.rank = f["Rank"];
  out.node_id = f["NodeID"];
  out.node_name = f["NodeName"];
  out.job_name = f["JobName"];
  out.user = f["User"];
  return out;
}

TEST(Pattern, expands_as_recorded) {
  // Where real Slurm differs from the original: widths pad, and the last digit of a width without
  // a verb stays.
  const std::map<std::string, std::string> slurm = {
      {"%3a", "007"}, {"%03t", "003"}, {"out.%3", "out.3"}};
  for (const auto& c : test::cases_of("pattern")) {
    const auto pattern = c["in"].get<std::string>();
    const auto it = slurm.find(pattern);
    const auto want = it != slurm.end() ? it->second : c["out"].get<std::string>();
    EXPECT_EQ(expand_pattern(pattern, fields_of(c["fields"])), want) << pattern;
  }
}

TEST(Pattern, expands_as_slurm) {
  PatternFields f;
  f.job_id = f.array_job_id = 57;
  f.job_name = "jn";
  f.user = "alice";
  const struct {
    const char* pattern;
    const char* want;
  } cases[] = {
      {"%J.out", "57.out"},
      {"%a.out", "4294967294.out"},
      {"p-%%j.out", "p-%j.out"},
      {"p-%10j", "p-0000000057"},
      {"p-%11j", "p-0000000057"},
      {"p-%0j", "p-57"},
      {"p-%8x.out", "p-jn.out"},
      {"p-%q", "p-%q"},
      {"p-%", "p-%"},
      {"p-%5", "p-5"},
      {"p\\-%j.out", "p-%j.out"},
      {"p-\\%j", "p-%j"},
      {"%x-%j-%u", "jn-57-alice"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(expand_pattern(c.pattern, f), c.want) << c.pattern;
}

TEST(Pattern, knows_its_live_verbs) {
  EXPECT_TRUE(pattern_uses("o-%5t", 't'));
  EXPECT_FALSE(pattern_uses("o-%%t", 't'));
  EXPECT_FALSE(pattern_uses("o-\\%t", 't'));
  EXPECT_FALSE(pattern_uses("o-%j", 't'));
}

std::string run_frames(const nlohmann::json& c, Stream want) {
  LineFormat format(c["label"], false, 4);
  std::string text[2];
  for (const auto& f : c["frames"]) {
    const auto stream = (f["flags"].get<int>() & 1) != 0 ? Stream::err : Stream::out;
    format.append(text[static_cast<int>(stream)],
                  f["rank"],
                  stream,
                  f["payload"].get<std::string>(),
                  (f["flags"].get<int>() & 2) != 0);
  }
  for (int rank = 0; rank < 4; ++rank)
    for (const auto stream : {Stream::out, Stream::err})
      format.finish(text[static_cast<int>(stream)], rank, stream);
  return text[static_cast<int>(want)];
}

TEST(LineFormat, matches_the_recorded_frames) {
  // The original broke labelled lines and added line feeds; ours holds and adds nothing.
  const std::map<std::string, std::string> ours = {
      {"labelled line in two chunks with another rank between", "2: X\n1: abcdef\n"},
      {"unterminated tail gets a newline at the end", "abc"},
      {"empty chunk without EOL opens a line", ""}};
  for (const auto& c : test::cases_of("mux")) {
    const auto it = ours.find(c["name"].get<std::string>());
    EXPECT_EQ(run_frames(c, Stream::out),
              it != ours.end() ? it->second : c["stdout"].get<std::string>())
        << c["name"];
    EXPECT_EQ(run_frames(c, Stream::err), c["stderr"].get<std::string>()) << c["name"];
  }
}

TEST(LineFormat, pads_to_the_highest_rank) {
  const struct {
    int ntasks, rank;
    const char* want;
  } cases[] = {{1, 0, "0: x\n"},
               {10, 9, "9: x\n"},
               {11, 9, " 9: x\n"},
               {12, 11, "11: x\n"},
               {101, 7, "  7: x\n"}};
  for (const auto& c : cases) {
    std::string out;
    LineFormat(true, false, c.ntasks).append(out, c.rank, Stream::out, "x", true);
    EXPECT_EQ(out, c.want);
  }
}

TEST(LineFormat, long_lines_are_cut_at_64_KiB_and_pieces_end_lines) {
  std::string out;
  LineFormat held(true, false, 1);
  held.append(out, 0, Stream::out, std::string(k_max_held_line, 'x'), false);
  EXPECT_EQ(out, "0: " + std::string(k_max_held_line, 'x') + "\n");
  out.clear();
  held.append(out, 0, Stream::out, "tail", false);
  EXPECT_EQ(out, "");
  held.finish(out, 0, Stream::out);
  EXPECT_EQ(out, "0: tail\n");
  out.clear();
  LineFormat pieces(true, true, 1);
  pieces.append(out, 0, Stream::out, "a", false);
  pieces.append(out, 0, Stream::out, "b", true);
  EXPECT_EQ(out, "0: a\n0: b\n");
}

// Reads everything until the writing end is closed.
std::string slurp(int fd) {
  std::string text;
  char buffer[65536];
  for (ssize_t got = 0; (got = ::read(fd, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  return text;
}

TEST(Writer, small_and_large_writes_keep_their_order) {
  auto pipe = posix::make_pipe();
  ASSERT_TRUE(pipe);
  std::string got;
  std::thread reader([&] { got = slurp(pipe->read.get()); });
  std::string want;
  {
    Writer writer;
    const int sink = writer.add_sink(std::move(pipe->write), "pipe");
    for (int i = 0; i < 400; ++i) {
      const std::string piece(i % 3 == 0 ? 70000 : 10, static_cast<char>('a' + i % 26));
      writer.buffer(sink) += piece;
      want += piece;
      writer.flush();
    }
    writer.drain();
    EXPECT_TRUE(writer.take_errors().empty());
  }
  reader.join();
  EXPECT_EQ(got.size(), want.size());
  EXPECT_TRUE(got == want);
}

TEST(Writer, a_blocked_reader_fills_it_and_progress_is_told) {
  auto pipe = posix::make_pipe();
  ASSERT_TRUE(pipe);
  Writer writer;
  const int sink = writer.add_sink(pipe->write.get(), "pipe");
  int pushed = 0;
  while (!writer.is_full() && pushed < 100) {
    writer.buffer(sink) += std::string(200000, 'x');
    writer.flush();
    ++pushed;
  }
  EXPECT_GT(pushed, 2);
  EXPECT_LT(pushed, 20); // bounded: half a MiB, not a hundred buffers
  std::size_t got = 0;
  char buffer[65536];
  while (got < static_cast<std::size_t>(pushed) * 200000) {
    const auto n = ::read(pipe->read.get(), buffer, sizeof buffer);
    ASSERT_GT(n, 0);
    got += static_cast<std::size_t>(n);
  }
  writer.drain();
  EXPECT_FALSE(writer.is_full());
  writer.acknowledge_progress();
}

TEST(Writer, tells_errors_once_and_broken_pipes_apart) {
  ::signal(SIGPIPE, SIG_IGN);
  auto full = posix::open_file("/dev/full", O_WRONLY);
  ASSERT_TRUE(full);
  auto pipe = posix::make_pipe();
  ASSERT_TRUE(pipe);
  pipe->read.reset();
  Writer writer;
  const int disk = writer.add_sink(std::move(*full), "/dev/full");
  const int broken = writer.add_sink(std::move(pipe->write), "pipe");
  for (int i = 0; i < 3; ++i) {
    writer.buffer(disk) += "x";
    writer.buffer(disk).append(100000, 'y');
    writer.flush();
  }
  EXPECT_FALSE(writer.broken_pipe());
  writer.buffer(broken) += "x";
  writer.drain();
  EXPECT_TRUE(writer.broken_pipe());
  EXPECT_EQ(writer.take_errors(),
            (std::vector<std::string>{"write error: /dev/full: No space left on device"}));
  EXPECT_TRUE(writer.take_errors().empty());
}

} // namespace
} // namespace shim::mux
