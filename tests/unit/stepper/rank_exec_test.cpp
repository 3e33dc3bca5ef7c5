#include "rank_exec.h"
#include "rank_start.h"

#include "slurm_shim/posix/fd.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/spawn.h"
#include "slurm_shim/stepper/stepper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>

#include "support/shell_probes.h"
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace shim;
using testing::HasSubstr;

struct Arguments {
  explicit Arguments(std::vector<std::string> words) : m_words(std::move(words)) {
    for (auto& word : m_words)
      m_pointers.push_back(word.data());
  }
  [[nodiscard]] std::span<char* const> span() const { return m_pointers; }

private:
  std::vector<std::string> m_words;
  std::vector<char*> m_pointers;
};

TEST(RankExec, arguments) {
  using Words = std::vector<std::string>;
  const Arguments with_prolog({"--task-prolog", "/p", "--", "x"});
  EXPECT_EQ(stepper::parse_rank_exec(with_prolog.span())->task_prolog, "/p");
  const struct {
    Words argv;
    std::string cpuset, chdir;
    Words command;
    const char* error;
  } cases[] = {
      {{"--cpuset", "0-3", "--chdir", "/w", "--", "echo", "hi"}, "0-3", "/w", {"echo", "hi"}, ""},
      {{"--", "true"}, "", "", {"true"}, ""},
      {{"--", "--", "x"}, "", "", {"--", "x"}, ""},
      {{"--"}, "", "", {}, "no command after --"},
      {{"echo"}, "", "", {}, "unknown rank-exec argument \"echo\""},
      {{"--cpuset"}, "", "", {}, "--cpuset needs a value"},
      {{"--cpuset=0", "--", "x"}, "", "", {}, "unknown rank-exec argument \"--cpuset=0\""},
      {{"--chdir", "--", "x"}, "", "", {}, "unknown rank-exec argument \"x\""},
      {{}, "", "", {}, "missing -- command separator"},
  };
  for (const auto& c : cases) {
    const Arguments arguments(c.argv);
    const auto request = stepper::parse_rank_exec(arguments.span());
    if (*c.error != '\0') {
      ASSERT_FALSE(request.has_value()) << c.error;
      EXPECT_EQ(request.error().message, c.error);
      continue;
    }
    ASSERT_TRUE(request.has_value());
    EXPECT_EQ(request->cpuset, c.cpuset);
    EXPECT_EQ(request->chdir, c.chdir);
    EXPECT_EQ(request->command, c.command);
  }
}

// What the trampoline wrote to the status pipe, its output, and its exit code.
struct Outcome {
  std::string status, output;
  int code = -1;
};
Outcome run_rank_exec(std::vector<std::string> words) {
  auto status = posix::make_pipe().value();
  auto output = posix::make_pipe().value();
  const auto pid = posix::fork_process().value();
  if (pid == 0) {
    ::dup2(output.write.get(), 1);
    ::dup2(output.write.get(), 2);
    const int end = ::fcntl(status.write.get(), F_DUPFD_CLOEXEC, 20);
    ::dup2(end, 3);
    const Arguments arguments(std::move(words));
    ::_exit(stepper::rank_exec_main(arguments.span()));
  }
  status.write.reset();
  output.write.reset();
  Outcome outcome;
  outcome.status = posix::read_fd(status.read.get()).value();
  outcome.output = posix::read_fd(output.read.get()).value();
  int wait_status = 0;
  while (::waitpid(pid, &wait_status, 0) < 0 && errno == EINTR) {
  }
  outcome.code = WEXITSTATUS(wait_status);
  return outcome;
}

TEST(RankExec, runs_the_command_with_its_pid_and_closes_the_status_pipe) {
  const auto ran = run_rank_exec({"--chdir",
                                  "/",
                                  "--",
                                  "sh",
                                  "-c",
                                  std::string("test $SLURM_TASK_PID = $$ && pwd; ") +
                                      test::k_list_descriptors + "; exit 127"});
  EXPECT_EQ(ran.status, "");
  EXPECT_EQ(ran.output.rfind("/\n0 1 ", 0), 0U) << ran.output;
  EXPECT_EQ(ran.output.find(" 3 "), std::string::npos) << ran.output;
  EXPECT_EQ(ran.code, 127);
}

TEST(RankExec, tells_why_it_never_ran) {
  EXPECT_EQ(run_rank_exec({"--", "no-such-program"}).status,
            "execve(): no-such-program: No such file or directory");
  EXPECT_EQ(run_rank_exec({"--", "/etc/passwd"}).status,
            "execve(): /etc/passwd: Permission denied");
  EXPECT_EQ(run_rank_exec({"--chdir", "/no/such", "--", "true"}).status,
            "chdir: /no/such: No such file or directory");
  const auto usage = run_rank_exec({"true"});
  EXPECT_EQ(usage.status, "rank-exec: unknown rank-exec argument \"true\"");
  EXPECT_EQ(usage.code, 127);
}

TEST(RankExec, a_cpu_list_that_does_not_fit_is_a_warning) {
  const auto ran = run_rank_exec({"--cpuset", "100000", "--", "echo", "ran"});
  EXPECT_EQ(ran.status, "");
  EXPECT_EQ(
      ran.output,
      "slurm-shim: warning: could not set CPU affinity to \"100000\": Invalid argument\nran\n");
}

TEST(RankStart, the_interpreter_of_a_script_is_found) {
  char name[] = "/tmp/interpreter-XXXXXX";
  const posix::Fd file(::mkstemp(name));
  ASSERT_EQ(posix::write_all(file.get(), "#! /no/interp -x\nrest\n"), 0);
  EXPECT_EQ(stepper::interpreter_of(name), "/no/interp");
  ASSERT_EQ(::ftruncate(file.get(), 0), 0);
  ASSERT_EQ(posix::write_all(file.get(), "text"), 0);
  EXPECT_EQ(stepper::interpreter_of(name), "");
  EXPECT_EQ(stepper::interpreter_of("/no/such/file"), "");
  ::unlink(name);
}

} // namespace
