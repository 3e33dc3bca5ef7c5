#include "begun_mark.h"

#include "slurm_shim/records/interactive.h"

#include <gtest/gtest.h>

namespace shim::allocation {

namespace {

const std::string k_mark(records::k_begun_mark);

struct Fed {
  std::string output;
  bool is_found;
};

Fed feed_in_pieces(const std::string& bytes, std::size_t size) {
  BegunMark mark;
  std::string output;
  for (std::size_t at = 0; at < bytes.size(); at += size)
    output += mark.feed(bytes.substr(at, size));
  output += mark.finish();
  return {output, mark.is_found()};
}

TEST(BegunMark, is_taken_out_whatever_the_pieces) {
  const auto bytes = "before" + k_mark.substr(0, 3) + k_mark + "after\n" + k_mark;
  for (std::size_t size = 1; size <= bytes.size(); ++size) {
    const auto fed = feed_in_pieces(bytes, size);
    EXPECT_TRUE(fed.is_found);
    EXPECT_EQ(fed.output, "before" + k_mark.substr(0, 3) + "after\n" + k_mark) << size;
  }
}

TEST(BegunMark, leaves_output_without_it_as_it_is) {
  const auto bytes = "text " + k_mark.substr(0, k_mark.size() - 1);
  for (std::size_t size = 1; size <= bytes.size(); ++size) {
    const auto fed = feed_in_pieces(bytes, size);
    EXPECT_FALSE(fed.is_found);
    EXPECT_EQ(fed.output, bytes) << size;
  }
}

TEST(BegunMark, holds_back_only_what_may_be_its_beginning) {
  BegunMark mark;
  EXPECT_EQ(mark.feed("x" + k_mark.substr(0, 2)), "x");
  EXPECT_EQ(mark.feed("y"), k_mark.substr(0, 2) + "y");
  EXPECT_FALSE(mark.is_found());
}

} // namespace

} // namespace shim::allocation
