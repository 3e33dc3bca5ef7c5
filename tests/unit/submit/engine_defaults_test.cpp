#include "engine_defaults.h"

#include <gtest/gtest.h>

namespace shim::submit {
namespace {

using Words = std::vector<std::string>;

TEST(EngineDefaults, words_of_a_request_file) {
  EXPECT_EQ(request_file_words("# all jobs\n-cwd -l 'a b=1',c  -N \"x y\" # name\n\n-notify\r\n"),
            (Words{"-cwd", "-l", "a b=1,c", "-N", "x y", "-notify"}));
  EXPECT_TRUE(request_file_words("").empty());
}

TEST(EngineDefaults, what_sbatch_says_itself_is_no_news) {
  const std::vector<std::pair<std::string, std::string>> files{
      {"/home/u/.sge_request",
       "-cwd -j y -o /tmp -N other -r y -l h_rt=60,gpu=1 -notify -hold_jid 7"}};
  EXPECT_EQ(standing_defaults(files, {{"h_rt", "300"}}),
            (Words{"/home/u/.sge_request adds -l gpu=1 to the job",
                   "/home/u/.sge_request adds -notify to the job",
                   "/home/u/.sge_request adds -hold_jid 7 to the job"}));
}

} // namespace
} // namespace shim::submit
