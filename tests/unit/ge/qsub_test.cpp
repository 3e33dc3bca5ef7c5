#include "slurm_shim/ge/qsub.h"

#include <gtest/gtest.h>

namespace shim::ge {
namespace {

using Words = std::vector<std::string>;

QsubRequest plain() {
  QsubRequest r;
  r.queues = {"gpu.q"};
  r.pe = "slurm-shim";
  r.slots = 16;
  r.name = "train";
  r.output = "/s/submit/t.log";
  r.directory = "/home/u/p";
  r.variables = {"SLURM_SHIM_REQ"};
  r.script = "/home/u/p/a.sh";
  r.arguments = {"-x", "a b"};
  return r;
}

TEST(QsubArgs, come_in_the_decided_order) {
  auto r = plain();
  r.par = "8";
  EXPECT_EQ(build_qsub_args(r),
            (Words{"-terse",
                   "-C",
                   "",
                   "-b",
                   "n",
                   "-shell",
                   "y",
                   "-w",
                   "e",
                   "-q",
                   "gpu.q",
                   "-pe",
                   "slurm-shim",
                   "16",
                   "-par",
                   "8",
                   "-N",
                   "train",
                   "-o",
                   "/s/submit/t.log",
                   "-j",
                   "y",
                   "-wd",
                   "/home/u/p",
                   "-v",
                   "SLURM_SHIM_REQ",
                   "-r",
                   "n",
                   "/home/u/p/a.sh",
                   "-x",
                   "a b"}));
}

TEST(QsubArgs, of_a_job_with_everything) {
  auto r = plain();
  r.shell = "/bin/bash";
  r.pe = "slurm-shim-2";
  r.tasks = "1-9:2";
  r.throttle = 3;
  r.rerun = r.reserve = r.hold = true;
  r.begin = "203001010000.00";
  r.account = "acct";
  r.priority = -100;
  r.mail_events = "be";
  r.mail_users = "a@b";
  r.context = {{"SLURM_COMMENT", "a,b c"}};
  r.hold_jobs = {"12", "13"};
  r.hold_array_jobs = {"14"};
  r.resources = {{"h_rt", "300"}, {"excl", ""}};
  r.extra = {"-P", "x"};
  r.arguments.clear();
  const auto args = build_qsub_args(r);
  const Words tail(args.begin() + 25, args.end());
  EXPECT_EQ(tail,
            (Words{"SLURM_SHIM_REQ",
                   "-t",
                   "1-9:2",
                   "-tc",
                   "3",
                   "-r",
                   "y",
                   "-R",
                   "y",
                   "-h",
                   "-a",
                   "203001010000.00",
                   "-A",
                   "acct",
                   "-p",
                   "-100",
                   "-m",
                   "be",
                   "-M",
                   "a@b",
                   "-ac",
                   "SLURM_COMMENT=a%2Cb%20c",
                   "-hold_jid",
                   "12,13",
                   "-hold_jid_ad",
                   "14",
                   "-l",
                   "h_rt=300,excl",
                   "-P",
                   "x",
                   "/home/u/p/a.sh"}));
}

TEST(QsubArgs, put_scopes_last_and_close_them) {
  auto r = plain();
  r.master_par = "2";
  r.slave_par = "1";
  r.resources = {{"h_rt", "60"}};
  r.arguments.clear();
  const auto args = build_qsub_args(r);
  const Words tail(args.end() - 13, args.end());
  EXPECT_EQ(tail,
            (Words{"-l",
                   "h_rt=60",
                   "-scope",
                   "master",
                   "-par",
                   "2",
                   "-scope",
                   "slave",
                   "-par",
                   "1",
                   "-scope",
                   "global",
                   "/home/u/p/a.sh"}));
}

TEST(QsubHelp, tells_whether_layouts_can_be_pinned) {
  EXPECT_TRUE(
      parse_qsub_help("OCS 9.1.5\n   [-p priority]  x\n   [-par allocation_rule]  y\n").par);
  EXPECT_FALSE(parse_qsub_help("SGE 8.1.9\n   [-P project_name]\n   [-p priority]\n").par);
}

TEST(JobNumber, is_the_last_line_that_looks_like_one) {
  EXPECT_EQ(parse_job_number("4711\n"), 4711);
  EXPECT_EQ(parse_job_number("5.1-3:1\n"), 5);
  EXPECT_EQ(parse_job_number("jsv: 17 checks\n12\n4711\n\n"), 4711);
  EXPECT_EQ(parse_job_number("Your job 3 has been submitted\n"), std::nullopt);
  EXPECT_EQ(parse_job_number(""), std::nullopt);
}

TEST(JobName, is_made_acceptable) {
  EXPECT_EQ(sanitize_job_name("01_run.sh"), "_01_run.sh");
  EXPECT_EQ(sanitize_job_name("a/b:c@d*e?f\\g"), "a_b_c_d_e_f_g");
  EXPECT_EQ(sanitize_job_name("None"), "_None");
  EXPECT_EQ(sanitize_job_name(""), "_");
  EXPECT_EQ(sanitize_job_name("a;b=%j'<$(x)"), "a;b=%j'<$(x)");
  EXPECT_EQ(sanitize_job_name("7b train\t\xc3\xbc\x7f"), "_7b_train____");
  EXPECT_EQ(sanitize_job_name(std::string(600, '1')).size(), 512u);
  EXPECT_EQ(sanitize_account("1abc@v100 x"), "1abc_v100_x");
}

struct RefusalCase {
  const char* output;
  RefusalKind kind;
  const char* reason;
};

// Texts of 8.1.9 and 9.1.5 as captured.
TEST(Refusals, are_told_in_slurms_words) {
  const RefusalCase cases[] = {
      {"Unable to run job: error: no suitable queues.\nExiting.\n",
       RefusalKind::impossible,
       "Requested node configuration is not available"},
      {"Unable to run job: Job was rejected because job requests unknown queue \"nosuch.q\".\n"
       "Exiting.\n",
       RefusalKind::unknown_queue,
       "Invalid partition name specified"},
      {"Unable to run job: Job was rejected because job requests unknown queue \"q@nosuch\".\n",
       RefusalKind::unknown_host,
       "Invalid node name specified"},
      {"error: can't resolve hostname \"nosuch\"\nUnable to run job: error: no suitable queues\n",
       RefusalKind::unknown_host,
       "Invalid node name specified"},
      {"Unable to run job: job rejected: the requested parallel environment \"x\" does not exist\n",
       RefusalKind::unknown_pe,
       "Unspecified error"},
      {"error: commlib error: got select error (Connection refused)\nunable to send message to "
       "qmaster using port 6444 on host \"m\": got send error\n",
       RefusalKind::unreachable,
       "Unable to contact slurm controller (connect failure)"},
      {"Unable to run job: job rejected: You try to submit a job with more than 75000 tasks.\n",
       RefusalKind::array,
       "Invalid job array specification"},
      {"Unable to run job: job rejected: the requested project \"nosuch\" does not exist.\n",
       RefusalKind::account,
       "Invalid account or account/partition combination specified"},
      {"Unable to run job: denied: host \"x\" is no submit host.\n",
       RefusalKind::access,
       "Access/permission denied"},
  };
  for (const auto& c : cases) {
    const auto refusal = classify_refusal(c.output);
    EXPECT_EQ(refusal.kind, c.kind) << c.output;
    EXPECT_EQ(refusal.reason, c.reason) << c.output;
  }
  const auto other =
      classify_refusal("Unable to run job: unknown resource \"nosuch\".\nExiting.\n");
  EXPECT_EQ(other.kind, RefusalKind::other);
  EXPECT_EQ(other.detail, "unknown resource \"nosuch\"");
  EXPECT_FALSE(other.plain());
}

TEST(QsubWarnings, are_forwarded_without_their_prefix) {
  EXPECT_EQ(qsub_warnings("warning: no suitable queues\n\nhello\n"),
            (Words{"no suitable queues", "hello"}));
}

} // namespace
} // namespace shim::ge
