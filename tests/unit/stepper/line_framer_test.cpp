#include "line_framer.h"

#include "slurm_shim/proto/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace shim;
using stepper::LineFramer;
using stepper::SendBuffer;
using testing::ElementsAre;

// "payload" or "payload\n" per frame; the frames' rank and stream are checked on the way.
std::vector<std::string> frames_of(const SendBuffer& buffer, unsigned rank, unsigned stream_flag) {
  std::vector<std::string> out;
  auto rest = buffer.pending();
  std::size_t used = 0;
  while (!rest.empty()) {
    const auto frame = proto::parse_frame(rest, used);
    if (!frame || !*frame) {
      ADD_FAILURE() << "not a whole frame";
      break;
    }
    const auto& header = (*frame)->header;
    EXPECT_EQ(header.type, 4);
    EXPECT_EQ(header.rank, rank);
    EXPECT_EQ(header.flags & proto::k_out_stderr, stream_flag);
    out.push_back(std::string((*frame)->payload) +
                  ((header.flags & proto::k_out_eol) != 0 ? "\n" : ""));
    rest.remove_prefix(used);
  }
  return out;
}

TEST(LineFramer, a_frame_per_line_and_the_rest_is_held) {
  LineFramer framer(7, false);
  SendBuffer out;
  framer.feed("one\n\ntwo\nthr", out);
  EXPECT_THAT(frames_of(out, 7, 0), ElementsAre("one\n", "\n", "two\n"));
  EXPECT_TRUE(framer.has_partial());
  framer.feed("ee", out);
  framer.feed("\nx", out);
  framer.flush(out);
  EXPECT_THAT(frames_of(out, 7, 0), ElementsAre("one\n", "\n", "two\n", "three\n", "x"));
  EXPECT_FALSE(framer.has_partial());
}

TEST(LineFramer, a_flush_without_an_open_line_says_nothing) {
  LineFramer framer(0, true);
  SendBuffer out;
  framer.flush(out);
  framer.feed("", out);
  framer.feed("a\n", out);
  framer.flush(out);
  EXPECT_THAT(frames_of(out, 0, proto::k_out_stderr), ElementsAre("a\n"));
}

TEST(LineFramer, long_lines_are_cut_at_64_kib_however_they_arrive) {
  const std::string line(200000, 'x');
  for (const std::size_t step : {std::size_t{1000}, std::size_t{65536}, std::size_t{200001}}) {
    LineFramer framer(1, false);
    SendBuffer out;
    const auto text = line + "\n";
    for (std::size_t at = 0; at < text.size(); at += step)
      framer.feed(std::string_view(text).substr(at, step), out);
    EXPECT_FALSE(framer.has_partial());
    EXPECT_THAT(frames_of(out, 1, 0),
                ElementsAre(std::string(65536, 'x'),
                            std::string(65536, 'x'),
                            std::string(65536, 'x'),
                            std::string(200000 - 3 * 65536, 'x') + "\n"))
        << step;
  }
}

TEST(LineFramer, any_split_of_any_text_joins_to_the_same_bytes) {
  std::string text;
  for (int i = 0; i < 3000; ++i)
    text +=
        std::string(static_cast<std::size_t>(i * i % 157), static_cast<char>('a' + i % 26)) + "\n";
  text += std::string(65535, 'y') + "\n" + std::string(65536, 'y') + "\n" + std::string(65537, 'y');
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, text.size()}) {
    LineFramer framer(3, true);
    SendBuffer out;
    for (std::size_t at = 0; at < text.size(); at += step)
      framer.feed(std::string_view(text).substr(at, step), out);
    framer.flush(out);
    std::string joined;
    for (const auto& frame : frames_of(out, 3, proto::k_out_stderr))
      joined += frame;
    EXPECT_TRUE(joined == text) << step;
  }
}

TEST(SendBuffer, consumes_from_the_front_and_grows_behind) {
  SendBuffer buffer;
  buffer.append("hello");
  buffer.consume(2);
  EXPECT_EQ(buffer.pending(), "llo");
  buffer.append(std::string(100000, 'x'));
  EXPECT_EQ(buffer.size(), 100003U);
  EXPECT_EQ(buffer.pending().substr(0, 4), "llox");
  buffer.consume(100003);
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.pending(), "");
}

} // namespace
