#include "slurm_shim/commands/scontrol.h"
#include "slurm_shim/context/context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "support/fake_engine.h"

namespace shim::commands {
namespace {

using Words = std::vector<std::string>;

class Scontrol : public ::testing::Test {
protected:
  void SetUp() override {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
    m_env.set("SLURM_SHIM_CONFIG", m_folder / "config.yaml");
    ASSERT_TRUE(
        posix::write_file_atomic(m_folder / "config.yaml", "default_partition: batch\n", 0644));
    m_engine.answer_file("qstat -xml -r -u", "8.1.9/qstat-r-xml-states.stdout");
    m_engine.answer_file("qstat -xml -r -g t", "8.1.9/qstat-gt-xml.stdout");
    m_engine.answer_file("qstat -xml -j", "8.1.9/qstat-j-missing-xml.stdout", 1);
  }
  struct Said {
    int code;
    std::string out, err;
  };
  Said scontrol(const Words& words) {
    StringSink out, err;
    context::Context ctx{"scontrol", m_env, out, err, m_engine, m_clock, {}};
    const int code = run_scontrol(ctx, words);
    return {code, out.text(), err.text()};
  }
  bool called(const std::string& call) const {
    return std::ranges::find(m_engine.calls, call) != m_engine.calls.end();
  }
  test::TempDir m_folder;
  EnvList m_env;
  test::FakeEngine m_engine{m_env};
  posix::SystemClock m_clock;
};

TEST_F(Scontrol, ShowsAJobAsSlurmDoes) {
  m_engine.answer_file("qstat -xml -j 44", "8.1.9/qstat-j-pe-running-xml.stdout");
  const auto job = scontrol({"show", "job", "44"});
  EXPECT_EQ(job.code, 0);
  EXPECT_EQ(job.err, "");
  EXPECT_TRUE(job.out.starts_with("JobId=44 JobName=perun\n   UserId=user1(")) << job.out;
  EXPECT_TRUE(job.out.ends_with("\n   Power=\n   TresPerNode=gres:gpu:2\n   \n\n")) << job.out;
  for (const auto* part : {"\n   JobState=RUNNING Reason=None Dependency=(null)\n",
                           " TimeLimit=UNLIMITED TimeMin=N/A\n",
                           "\n   StartTime=2026-11-30T01:42:30 EndTime=Unknown Deadline=N/A\n",
                           "\n   Partition=gpu.q AllocNode:Sid=",
                           "\n   NodeList=gedeb-master,gedeb-n[1-2]\n   BatchHost=gedeb-master\n",
                           "\n   NumNodes=3 NumCPUs=6 "})
    EXPECT_NE(job.out.find(part), std::string::npos) << part << "\n" << job.out;
  const auto line = scontrol({"-o", "show", "job=44"});
  EXPECT_TRUE(line.out.starts_with("JobId=44 JobName=perun UserId=user1(")) << line.out;
  EXPECT_EQ(line.out.find('\n'), line.out.size() - 1);
}

TEST_F(Scontrol, ShowsOneElementOfAnArray) {
  m_engine.answer("qacct -j 45", {1, "", "error: job id 45 not found\n"});
  const auto waiting = scontrol({"show", "job", "45_4"});
  EXPECT_TRUE(waiting.out.starts_with("JobId=") &&
              waiting.out.find("ArrayJobId=45 ArrayTaskId=4 ") != std::string::npos)
      << waiting.out;
  EXPECT_EQ(waiting.out.find("ArrayTaskId=3"), std::string::npos);
  const auto none = scontrol({"show", "job", "45_99"});
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(none.out, "Job 45_99 not found\n");
  EXPECT_EQ(none.err, "");
}

// vectors/10.
TEST_F(Scontrol, RefusesInSlurmsWords) {
  m_engine.answer("qacct", {1, "", "error: job id 9999828 not found\n"});
  const struct {
    Words words;
    const char* err;
  } cases[] = {
      {{"show", "job", "99999999"}, "slurm_load_jobs error: Invalid job id specified\n"},
      {{"-Q", "show", "job", "99999999"}, ""},
      {{"show", "job", "abc"}, "scontrol_print_job error: Invalid job id specified\n"},
      {{"show", "job", "43", "47"}, "too many arguments for keyword:show\n"},
      {{"show"}, "too few arguments for keyword:show\n"},
      {{"show", "bogus"}, "invalid entity:bogus for keyword:show \n"},
      {{"bogus"}, "invalid keyword: bogus\n"},
      {{"s", "j", "43"}, "invalid keyword: s\n"},
      {{"hold", "abc"},
       "Invalid job id specified for job abc\nslurm_suspend error: Invalid job id specified\n"},
      {{"release", "99999999"},
       "Invalid job id specified for job 99999999\n"
       "slurm_suspend error: Invalid job id specified\n"},
      {{"requeue", "99999999"}, "Invalid job id specified for job 99999999\n"},
      {{"requeue", "46"}, "Job is pending execution for job 46\n"},
  };
  for (const auto& c : cases) {
    const auto said = scontrol(c.words);
    EXPECT_EQ(said.code, 1) << join(c.words, " ");
    EXPECT_EQ(said.err, c.err);
    EXPECT_EQ(said.out, "") << join(c.words, " ");
  }
}

TEST_F(Scontrol, HoldsAndReleases) {
  m_engine.answer("qhold", {0, "modified hold of job 46\n", ""});
  m_engine.answer("qrls", {0, "modified hold of job 47\n", ""});
  m_engine.answer("qmod", {1, "user1 cleared error state of job 49\n", ""});
  auto said = scontrol({"hold", "46,48"});
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.out + said.err, "");
  EXPECT_TRUE(called("qhold -h u 46"));
  EXPECT_TRUE(called("qhold -h u 48"));
  EXPECT_EQ(scontrol({"hold", "45_4"}).code, 0);
  EXPECT_TRUE(called("qhold -h u 45.4")) << "this element alone";
  said = scontrol({"release", "47", "49"});
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.out + said.err, "");
  EXPECT_TRUE(called("qrls -h u 47"));
  EXPECT_FALSE(called("qmod -cj 47"));
  EXPECT_TRUE(called("qmod -cj 49")) << "its error is what keeps it";
}

TEST_F(Scontrol, AForeignJobIsDenied) {
  const posix::Output denied{
      1, "denied: user \"alice\" does not have permission to modify job 46\n", ""};
  m_engine.answer("qhold", denied);
  m_engine.answer("qrls", denied);
  m_engine.answer("qmod", denied);
  EXPECT_EQ(scontrol({"hold", "46"}).err,
            "Invalid user id for job 46\nslurm_suspend error: Invalid user id\n");
  EXPECT_EQ(scontrol({"release", "46"}).err,
            "Access/permission denied for job 46\n"
            "slurm_suspend error: Access/permission denied\n");
  const auto requeue = scontrol({"requeue", "43"});
  EXPECT_EQ(requeue.code, 1);
  EXPECT_EQ(requeue.err, "Access/permission denied for job 43\n");
}

TEST_F(Scontrol, RequeuesAJobWithoutSupervisorByTheEngine) {
  m_engine.answer("qmod", {0, "user1 - pushed rescheduling of job 43\n", ""});
  const auto said = scontrol({"requeue", "43"});
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.out + said.err, "");
  EXPECT_TRUE(called("qmod -rj 43"));
}

TEST_F(Scontrol, AnEngineThatDoesNotAnswerIsAnError) {
  m_engine.answer("qstat -xml -r -u", {1, "", "error: commlib error: got select error\n"});
  for (const auto& words : std::vector<Words>{
           {"show", "job"}, {"show", "job", "43"}, {"hold", "43"}, {"requeue", "43"}}) {
    const auto said = scontrol(words);
    EXPECT_EQ(said.code, 1);
    EXPECT_EQ(said.err, "scontrol: error: qstat: error: commlib error: got select error\n");
    EXPECT_EQ(said.out, "");
  }
}

TEST_F(Scontrol, WhatIsKnownButMissingSaysSo) {
  for (const auto& words : std::vector<Words>{{"reboot", "n1"},
                                              {"listpids", "43"},
                                              {"create", "partition"},
                                              {"write", "hostlist", "43"},
                                              {"show", "topology"}}) {
    const auto said = scontrol(words);
    EXPECT_EQ(said.code, 1);
    EXPECT_NE(said.err.find("is not supported by slurm-shim\n"), std::string::npos) << said.err;
  }
  EXPECT_TRUE(m_engine.calls.empty());
}

TEST_F(Scontrol, SuspendsAndResumesThroughTheEngine) {
  m_engine.answer("qmod -sj", {0, "user1 - suspended job 43\n", ""});
  m_engine.answer("qmod -usj", {0, "user1 - unsuspended job 50\n", ""});
  EXPECT_EQ(scontrol({"suspend", "43"}).code, 0);
  EXPECT_TRUE(called("qmod -sj 43"));
  EXPECT_EQ(scontrol({"suspend", "50"}).code, 0); // it is already
  EXPECT_FALSE(called("qmod -sj 50"));
  EXPECT_EQ(scontrol({"resume", "50"}).code, 0);
  EXPECT_TRUE(called("qmod -usj 50"));
  EXPECT_EQ(scontrol({"resume", "43"}).err, "Job is not suspended for job 43\n");
  EXPECT_EQ(scontrol({"suspend", "46"}).err, "Job is pending execution for job 46\n");
  EXPECT_EQ(scontrol({"suspend", "9999"}).err, "Unexpected message received for job 9999\n");
}

TEST_F(Scontrol, ShowsAJobThatHasJustEnded) {
  const auto now = std::time(nullptr);
  char text[64];
  std::tm parts{};
  ::localtime_r(&now, &parts);
  const auto size = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  const std::string when(text, size);
  m_engine.answer("qacct -j 77",
                  {0,
                   "==============================================================\n"
                   "qname batch.q\nhostname n1\nowner user1\njobname a\njobnumber 77\n"
                   "taskid undefined\nqsub_time " +
                       when + "\nstart_time " + when + "\nend_time " + when +
                       "\nfailed 0\nexit_status 3\nslots 1\n",
                   ""});
  const auto said = scontrol({"-o", "show", "job", "77"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_NE(said.out.find("JobState=FAILED Reason=NonZeroExitCode "), std::string::npos)
      << said.out;
  EXPECT_NE(said.out.find(" ExitCode=3:0 "), std::string::npos) << said.out;
}

TEST_F(Scontrol, ShowsJson) {
  const auto said = scontrol({"show", "job", "43", "--json"});
  EXPECT_EQ(said.code, 0);
  EXPECT_NE(said.out.find("\"current_working_directory\": "), std::string::npos);
}

TEST_F(Scontrol, HostListsNeedNoEngine) {
  EXPECT_EQ(scontrol({"show", "hostnames", "n[1-2,5]"}).out, "n1\nn2\nn5\n");
  EXPECT_EQ(scontrol({"show", "hostlist", "n1,n2,n5"}).out, "n[1-2,5]\n");
  EXPECT_EQ(scontrol({"show", "hostlistsorted", "n3,n1,n2"}).out, "n[1-3]\n");
  const auto none = scontrol({"show", "hostnames"});
  EXPECT_EQ(none.code, 0);
  EXPECT_EQ(none.err, "scontrol: error: host list is empty\n");
  const auto nothing = scontrol({"show", "hostlist"});
  EXPECT_EQ(nothing.code, 1);
  EXPECT_EQ(nothing.err, "invalid encode argument\n");
  const auto missing = scontrol({"show", "hostlist", "/nonexistent/hf"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_EQ(missing.err, "Can not open /nonexistent/hf\n");
  EXPECT_TRUE(m_engine.calls.empty());
}

} // namespace
} // namespace shim::commands
