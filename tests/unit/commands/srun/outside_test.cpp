#include "outside.h"

#include "slurm_shim/commands/srun.h"

#include <gtest/gtest.h>

namespace shim::commands::srun {
namespace {

using Words = std::vector<std::string>;

Words step_words(const Words& words) {
  const auto parsed = cli::parse(srun_options(), words, {.command = "srun"});
  EXPECT_TRUE(parsed) << parsed.error().message;
  return words_of(without_job_options(*parsed));
}

TEST(WithoutJobOptions, what_the_job_was_asked_for_is_not_asked_of_the_step) {
  EXPECT_EQ(step_words({"-p",
                        "gpu",
                        "-t5",
                        "-A",
                        "a",
                        "-N2",
                        "--ntasks=4",
                        "-l",
                        "-K",
                        "-K0",
                        "--mem=1G",
                        "-x",
                        "n1",
                        "-vv",
                        "--pty",
                        "prog",
                        "-p",
                        "x"}),
            (Words{"--nodes=2",
                   "--ntasks=4",
                   "--label",
                   "--kill-on-bad-exit",
                   "--kill-on-bad-exit=0",
                   "--verbose",
                   "--verbose",
                   "--",
                   "prog",
                   "-p",
                   "x"}));
}

TEST(WithoutJobOptions, values_arrive_as_they_are) {
  EXPECT_EQ(step_words({"--export=A=1 2,B", "-o", "", "--gpu-b", "per_task:1", "--", "-x", ""}),
            (Words{"--export=A=1 2,B", "--output=", "--gpu-bind=per_task:1", "--", "-x", ""}));
}

} // namespace
} // namespace shim::commands::srun
