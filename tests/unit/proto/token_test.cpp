#include "slurm_shim/posix/spawn.h"
#include "slurm_shim/proto/token.h"

#include <gtest/gtest.h>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace shim;

TEST(Token, is_random_hex_and_matches_itself_only) {
  const auto token = proto::Token::generate();
  const auto& text = token.reveal();
  EXPECT_EQ(text.size(), 64U);
  EXPECT_EQ(text.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(text, proto::Token::generate().reveal());
  EXPECT_TRUE(token.matches(text));
  EXPECT_FALSE(token.matches(text.substr(0, 63)));
  EXPECT_FALSE(token.matches(text + "0"));
  EXPECT_FALSE(token.matches(""));
  auto other = text;
  other.back() = other.back() == '0' ? '1' : '0';
  EXPECT_FALSE(token.matches(other));
}

TEST(Token, its_maker_leaves_no_dump) {
  const auto pid = posix::fork_process().value();
  if (pid == 0) {
    ::prctl(PR_SET_DUMPABLE, 1);
    const auto token = proto::Token::generate();
    ::_exit(::prctl(PR_GET_DUMPABLE) == 0 && !token.reveal().empty() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

} // namespace
