#include "slurm_shim/posix/identity.h"
#include "slurm_shim/posix/runner.h"

#include <gtest/gtest.h>

#include <csignal>

#include <unistd.h>

namespace shim::posix {
namespace {

using std::chrono::milliseconds;

Result<Output> shell(const std::string& script, RunRequest request = {}) {
  request.argv = {"/bin/sh", "-c", script};
  ProcessRunner runner;
  return runner.run(request);
}

TEST(ProcessRunner, KeepsStreamsApartAndTellsTheExitCode) {
  const auto output = shell("echo out; echo err >&2; exit 7");
  ASSERT_TRUE(output);
  EXPECT_EQ(output->out, "out\n");
  EXPECT_EQ(output->err, "err\n");
  EXPECT_EQ(output->status, 7);
}

TEST(ProcessRunner, ReportsDeathBySignalAs128PlusN) {
  EXPECT_EQ(shell("kill -9 $$")->status, 128 + SIGKILL);
}

TEST(ProcessRunner, FeedsStdinAndSurvivesAReaderThatLeaves) {
  RunRequest request;
  request.input = std::string(1 << 20, 'x');
  EXPECT_EQ(shell("wc -c", request)->out, "1048576\n");
  EXPECT_EQ(shell("exec 0<&-; echo gone", request)->out, "gone\n");
}

TEST(ProcessRunner, GivesDevNullWithoutInput) {
  EXPECT_EQ(shell("cat; echo end")->out, "end\n");
}

TEST(ProcessRunner, ReadsMuchOnBothStreamsAtOnce) {
  const auto output = shell("head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero");
  ASSERT_TRUE(output);
  EXPECT_EQ(output->out.size(), 300000U);
  EXPECT_EQ(output->err.size(), 300000U);
}

TEST(ProcessRunner, TimeoutEndsTheWholeGroupAndNamesTheTool) {
  RunRequest request;
  request.timeout = milliseconds(200);
  const auto begin = std::chrono::steady_clock::now();
  const auto output = shell("sleep 60 & sleep 60; wait", request);
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().kind, ErrorKind::unavailable);
  EXPECT_NE(output.error().message.find("/bin/sh: no answer within 200 ms"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(ProcessRunner, RefusesTooMuchOutput) {
  RunRequest request;
  request.output_limit = 1000;
  const auto output = shell("yes", request);
  ASSERT_FALSE(output);
  EXPECT_NE(output.error().message.find("too much output"), std::string::npos);
}

TEST(ProcessRunner, NamesAToolThatCannotBeRun) {
  ProcessRunner runner;
  RunRequest request;
  request.argv = {"/no/such/tool"};
  const auto output = runner.run(request);
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(output.error().message, "cannot run /no/such/tool: No such file or directory");
}

TEST(ProcessRunner, ChildHasOnlyTheGivenEnvironmentAndFolder) {
  RunRequest request;
  request.env = EnvList(std::vector<std::string>{"ONLY=this"});
  request.chdir = "/usr";
  EXPECT_EQ(shell("echo \"$ONLY $HOME.\"; /bin/pwd", request)->out, "this .\n/usr\n");
}

TEST(Identity, UserNameTakesTheEnvironmentFirst) {
  ProcessRunner runner;
  EXPECT_EQ(user_name(runner, EnvList(std::vector<std::string>{"USER=u", "LOGNAME=l"})), "u");
  EXPECT_EQ(user_name(runner, EnvList(std::vector<std::string>{"USER=", "LOGNAME=l"})), "l");
  const auto root = lookup_user(runner, "0");
  ASSERT_TRUE(root);
  EXPECT_EQ(root->name, "root");
  EXPECT_EQ(lookup_user(runner, "no-such-user-here").error().kind, ErrorKind::not_found);
}

TEST(Identity, LoopbackIsSkippedUnlessAllowed) {
  ProcessRunner runner;
  EXPECT_EQ(resolve_ipv4(runner, "127.0.0.1", true).value(), "127.0.0.1");
  EXPECT_EQ(resolve_ipv4(runner, "127.0.0.1").error().kind, ErrorKind::not_found);
}

} // namespace
} // namespace shim::posix
