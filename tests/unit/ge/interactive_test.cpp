#include "slurm_shim/ge/interactive.h"

#include <gtest/gtest.h>

namespace shim::ge {
namespace {

using Stream = QrshTalk::Stream;
using Words = std::vector<std::string>;

constexpr std::string_view k_job = "Your job 12 (\"name\") has been submitted\n";
constexpr std::string_view k_told = "waiting for interactive job to be scheduled ...\n"
                                    "Your interactive job 12 has been successfully scheduled.\n"
                                    "Establishing builtin session to host gpu-n3 ...\n";

// Whatever the pieces are, the same comes out.
std::string fed(QrshTalk& talk, Stream stream, std::string_view text, std::size_t piece) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += piece)
    out += talk.feed(stream, text.substr(at, piece));
  return out + talk.finish(stream);
}

TEST(BuildInteractiveArgs, what_qrsh_knows_of_a_request) {
  QsubRequest job;
  job.queues = {"batch.q"};
  job.pe = "mpi";
  job.slots = 4;
  job.par = "2";
  job.name = "n";
  job.directory = "/home/u";
  job.variables = {"SLURM_SHIM_REQ"};
  job.reserve = true;
  job.rerun = true; // of qsub alone, as -o, -t, -a and -S
  job.output = "/log";
  job.shell = "/bin/sh";
  job.resources = {{"h_rt", "60"}};
  EXPECT_EQ(build_interactive_args(job, {false, true, {"/shim", "batch-exec"}}),
            (Words{"-now",     "n",
                   "-verbose", "-noshell",
                   "-nostdin", "-pty",
                   "n",        "-w",
                   "e",        "-q",
                   "batch.q",  "-pe",
                   "mpi",      "4",
                   "-par",     "2",
                   "-N",       "n",
                   "-wd",      "/home/u",
                   "-v",       "SLURM_SHIM_REQ",
                   "-R",       "y",
                   "-l",       "h_rt=60",
                   "/shim",    "batch-exec"}));
  const auto args = build_interactive_args(job, {true, false, {"x"}});
  EXPECT_EQ(args[1], "y");
}

TEST(UnknownToQrsh, begin_and_array) {
  QsubRequest job;
  EXPECT_TRUE(unknown_to_qrsh(job).empty());
  job.begin = "203001010000.00";
  job.tasks = "1-2";
  EXPECT_EQ(unknown_to_qrsh(job), (Words{"begin", "array"}));
}

TEST(QrshTalk, is_taken_out_of_both_streams_whatever_the_pieces) {
  for (const std::size_t piece : {1U, 2U, 7U, 1000U}) {
    QrshTalk talk;
    EXPECT_EQ(fed(talk, Stream::out, std::string(k_job) + "out\nYour job 3\n", piece),
              "out\nYour job 3\n");
    EXPECT_EQ(talk.job(), 12);
    EXPECT_FALSE(talk.is_started());
    EXPECT_EQ(
        fed(talk, Stream::err, std::string(k_told) + "err\nwaiting for interactive job\n", piece),
        "err\nwaiting for interactive job\n");
    EXPECT_TRUE(talk.is_started());
    EXPECT_EQ(talk.complaints(), "");
  }
}

TEST(QrshTalk, output_that_follows_no_telling_is_kept) {
  QrshTalk talk;
  EXPECT_EQ(talk.feed(Stream::out, "You"), "");
  EXPECT_EQ(talk.finish(Stream::out), "You");
  QrshTalk other;
  EXPECT_EQ(other.feed(Stream::out, "Yours\n"), "Yours\n");
  EXPECT_FALSE(other.job());
}

TEST(QrshTalk, what_else_is_said_before_the_start_is_a_complaint) {
  QrshTalk talk;
  EXPECT_EQ(fed(talk, Stream::err, "error: no suitable queues\nand more", 4), "");
  EXPECT_EQ(talk.complaints(), "error: no suitable queues\nand more\n");
  EXPECT_FALSE(talk.is_scheduled());
}

} // namespace
} // namespace shim::ge
