#include "slurm_shim/commands/squeue.h"
#include "slurm_shim/context/context.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "support/fake_engine.h"

namespace shim::commands {
namespace {

using Words = std::vector<std::string>;
constexpr const char* k_header =
    "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n";

class SqueueRun : public ::testing::Test {
protected:
  void SetUp() override {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
    m_env.set("SLURM_SHIM_CONFIG", m_folder / "config.yaml");
    configure("default_partition: batch\n");
    m_engine.answer_file("qstat -xml -r -u", "8.1.9/qstat-r-xml-states.stdout");
    m_engine.answer_file("qstat -xml -r -g t", "8.1.9/qstat-gt-xml.stdout");
    m_engine.answer_file("qstat -xml -j", "8.1.9/qstat-j-missing-xml.stdout", 1);
    m_engine.answer("getent passwd nobody-here", {2, "", ""});
    m_engine.answer("qacct", {1, "", "error: job id 99999999 not found\n"});
    m_engine.answer("qconf -sel", {0, "gedeb-master\ngedeb-n1\ngedeb-n2\n", ""});
  }
  void configure(const std::string& text) {
    ASSERT_TRUE(posix::write_file_atomic(m_folder / "config.yaml", text, 0644));
  }
  struct Said {
    int code;
    std::string out, err;
  };
  Said squeue(const Words& words) {
    StringSink out, err;
    context::Context ctx{"squeue", m_env, out, err, m_engine, m_clock, {}};
    const int code = run_squeue(ctx, words);
    return {code, out.text(), err.text()};
  }
  test::TempDir m_folder;
  EnvList m_env;
  test::FakeEngine m_engine{m_env};
  posix::SystemClock m_clock;
};

TEST_F(SqueueRun, ShowsTheQueue) {
  const auto all = squeue({"-h", "-S", "i", "-o", "%i|%P|%j|%u|%t|%D|%C|%R|%l"});
  EXPECT_EQ(all.err, "");
  EXPECT_EQ(all.code, 0);
  EXPECT_EQ(all.out,
            "43|batch.q|runner|user1|R|1|1|gedeb-master|1:00:00\n"
            "44|gpu.q|perun|user1|R|3|6|gedeb-master,gedeb-n[1-2]|UNLIMITED\n"
            "45_1|gpu.q|arr|user1|R|1|1|gedeb-master|UNLIMITED\n"
            "45_2|gpu.q|arr|user1|R|1|1|gedeb-master|UNLIMITED\n"
            "45_[3-4]|batch|arr|user1|PD|1|1|(Priority)|UNLIMITED\n"
            "46|batch|pend|user1|PD|1|1|(Resources)|UNLIMITED\n"
            "47|batch|held|user1|PD|1|1|(JobHeldUser)|UNLIMITED\n"
            "48|batch|dep|user1|PD|1|1|(Dependency)|UNLIMITED\n"
            "49|batch|eqw|user1|PD|1|1|(launch failed requeued held)|UNLIMITED\n"
            "50|gpu.q|susp|user1|S|1|1|gedeb-n2|UNLIMITED\n");
}

TEST_F(SqueueRun, NamesTheJobsAsked) {
  EXPECT_EQ(squeue({"-h", "-o", "%i %t", "-j", "47,43", "-S", "i"}).out, "43 R\n47 PD\n");
  EXPECT_EQ(squeue({"-h", "-o", "%i %t", "-j45_2"}).out, "45_2 R\n");
  EXPECT_EQ(squeue({"-h", "-o", "%i %t", "--job=45_4", "-r"}).out, "45_4 PD\n");
  const auto mixed = squeue({"-h", "-j", "43,99999999", "-o", "%i %t"});
  EXPECT_EQ(mixed.code, 0);
  EXPECT_EQ(mixed.out, "43 R\n");
  const auto none = squeue({"-h", "-j", "45_77", "-o", "%i"});
  EXPECT_EQ(none.code, 0);
  EXPECT_EQ(none.out + none.err, "");
}

TEST_F(SqueueRun, AJobThatNeverWasIsAnError) {
  const auto unknown = squeue({"-j", "99999999"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_EQ(unknown.out, "");
  EXPECT_EQ(unknown.err, "slurm_load_jobs error: Invalid job id specified\n");
}

TEST_F(SqueueRun, AJobThatHasJustEndedIsAnEmptyList) {
  const auto record = [&](std::time_t end) {
    std::tm parts{};
    ::gmtime_r(&end, &parts);
    char when[64];
    EXPECT_NE(std::strftime(when, sizeof when, "%a %b %e %H:%M:%S %Y", &parts), 0U);
    std::string text = std::string(62, '=') + "\nqname batch.q\nhostname gedeb-n1\nowner bob\n";
    text += "jobname over\njobnumber 51\ntaskid undefined\nslots 1\nfailed 0\nexit_status 3\n";
    for (const auto* key : {"qsub_time", "start_time", "end_time"})
      text += std::string(key) + " " + when + "\n";
    return posix::Output{0, text, ""};
  };
  m_engine.answer("qacct", record(static_cast<std::time_t>(m_clock.unix_ms() / 1000 - 10)));
  const auto ended = squeue({"-j", "51"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.out, k_header);
  EXPECT_EQ(ended.err, "");
  const auto shown = squeue({"-h", "-t", "all", "-j", "51", "-o", "%i|%t|%r|%u|%R|%O"});
  EXPECT_EQ(shown.out, "51|F|NonZeroExitCode|bob|(NonZeroExitCode)|0\n");
  EXPECT_EQ(squeue({"-h", "-t", "CD", "-j", "51"}).out, "");
  m_engine.answer("qacct", record(1606700729));
  EXPECT_EQ(squeue({"-j", "51"}).code, 1);
  EXPECT_EQ(squeue({"-h", "-t", "all", "-j", "51"}).code, 1);
  m_engine.answer("qacct", {1, "", "error: cannot open the accounting file\n"});
  EXPECT_EQ(squeue({"-j", "51"}).code, 0) << "nobody could be asked";
  EXPECT_EQ(squeue({"-t", "all"}).code, 1) << "what has ended is not known";
  configure("squeue_unknown_job: empty\n");
  EXPECT_EQ(squeue({"-j", "51"}).code, 0);
}

TEST_F(SqueueRun, RefusesInSlurmsWords) {
  const struct {
    Words words;
    const char* err;
  } cases[] = {
      {{"-j", "abc"}, "squeue: error: Invalid job id: abc\n"},
      {{"-j", "0"}, "squeue: error: Invalid job id: 0\n"},
      {{"-y"}, "squeue: invalid option -- 'y'\nTry \"squeue --help\" for more information\n"},
      {{"-j", "-5"}, "squeue: invalid option -- '5'\nTry \"squeue --help\" for more information\n"},
      {{"-o"},
       "squeue: option requires an argument -- 'o'\nTry \"squeue --help\" for more "
       "information\n"},
      {{"-h", "-w", "nosuch"}, "squeue: error: Invalid node name nosuch\n"},
      {{"-h", "-j", "43", "47"}, "squeue: error: Unrecognized option: 47\n"},
  };
  for (const auto& c : cases) {
    const auto said = squeue(c.words);
    EXPECT_EQ(said.code, 1) << join(c.words, " ");
    EXPECT_EQ(said.err, c.err);
  }
}

TEST_F(SqueueRun, AnUnknownUserHasNoJobs) {
  const auto bad = squeue({"-u", "nobody-here"});
  EXPECT_EQ(bad.code, 0);
  EXPECT_EQ(bad.out, k_header);
  EXPECT_EQ(bad.err, "squeue: error: Invalid user: nobody-here\n\n");
  for (const auto& call : m_engine.calls)
    EXPECT_FALSE(call.starts_with("qstat")) << call;
}

TEST_F(SqueueRun, MeAndUsersBecomeTheEnginesUsers) {
  EXPECT_EQ(squeue({"--me", "-h"}).code, 0);
  EXPECT_EQ(m_engine.calls.at(0), "qstat -xml -r -u alice");
  m_engine.calls.clear();
  m_engine.answer("getent passwd 1002", {0, "bob:x:1002:1002::/home/bob:/bin/sh\n", ""});
  EXPECT_EQ(squeue({"-u", "1002", "-h"}).code, 0);
  EXPECT_EQ(m_engine.calls.at(1), "qstat -xml -r -u bob");
  m_engine.calls.clear();
  EXPECT_EQ(squeue({"-u", "bob", "--me", "-h"}).code, 0);
  EXPECT_EQ(m_engine.calls.at(0), "qstat -xml -r -u alice");
}

TEST_F(SqueueRun, AnEngineThatDoesNotAnswerIsNoEmptyQueue) {
  for (const auto& words : std::vector<Words>{{}, {"-j", "43"}, {"--me"}}) {
    m_engine.answer("qstat -xml -r -u", {1, "", "error: commlib error: got select error\n"});
    const auto said = squeue(words);
    EXPECT_EQ(said.code, 1);
    EXPECT_EQ(said.out, "");
    EXPECT_EQ(said.err, "squeue: error: qstat: error: commlib error: got select error\n");
  }
}

TEST_F(SqueueRun, UnknownLettersAreToldOnce) {
  const auto said = squeue({"-h", "-j", "43", "-o", "%? %i"});
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.out, "%? 43\n");
  EXPECT_EQ(said.err, "squeue: error: Invalid job format specification: ?\n");
}

} // namespace
} // namespace shim::commands
