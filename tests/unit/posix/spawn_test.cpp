#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/spawn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

#include "support/shell_probes.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace shim;
using posix::ProcessGroup;
using posix::SpawnError;
using posix::SpawnRequest;
using testing::HasSubstr;

int wait_status(pid_t pid) {
  int status = -1;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// Runs the request with stdout and stderr on a pipe; what it wrote, and its wait status.
struct Ran {
  std::string text;
  int status = -1;
  pid_t pid = -1;
};
Ran run(SpawnRequest request) {
  auto pipe = posix::make_pipe().value();
  request.stdin_fd = posix::k_null_fd;
  request.stdout_fd = pipe.write.get();
  request.stderr_fd = pipe.write.get();
  if (request.env.empty()) request.env = {"PATH=/bin:/usr/bin"};
  auto process = posix::spawn(request);
  EXPECT_TRUE(process.has_value());
  pipe.write.reset();
  Ran ran;
  if (!process) return ran;
  ran.pid = process->pid;
  ran.text = posix::read_fd(pipe.read.get()).value();
  ran.status = wait_status(process->pid);
  return ran;
}

SpawnRequest shell(const std::string& script) {
  SpawnRequest request;
  request.argv = {"sh", "-c", script};
  return request;
}

TEST(Spawn, runs_a_program_found_in_the_path_of_its_own_environment) {
  auto request = shell("echo $0-$X; exit 3");
  request.env = {"PATH=/nowhere:/bin", "X=y"};
  const auto ran = run(request);
  EXPECT_EQ(ran.text, "sh-y\n");
  EXPECT_EQ(WEXITSTATUS(ran.status), 3);
}

TEST(Spawn, a_missing_program_is_the_return_value_and_leaves_no_child) {
  SpawnRequest request;
  request.argv = {"no-such-program"};
  request.env = {"PATH=/bin:/usr/bin"};
  const auto process = posix::spawn(request);
  ASSERT_FALSE(process.has_value());
  EXPECT_EQ(process.error().stage, SpawnError::Stage::exec);
  EXPECT_EQ(process.error().error_number, ENOENT);
  EXPECT_EQ(process.error().message(), "no-such-program: No such file or directory");
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

class SpawnFiles : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/spawn-test-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    m_folder = name;
  }
  void TearDown() override {
    for (const auto* file : {"/prog", "/sub/prog", "/sub"})
      ::remove((m_folder + file).c_str());
    ::rmdir(m_folder.c_str());
  }
  std::string make(const std::string& name, const std::string& text, unsigned mode) {
    const auto path = m_folder + name;
    EXPECT_TRUE(posix::write_file_atomic(path, text, mode).has_value());
    return path;
  }
  std::string m_folder;
};

TEST_F(SpawnFiles, not_executable_wins_over_not_found) {
  make("/prog", "x", 0600);
  SpawnRequest request;
  request.argv = {"prog"};
  request.env = {"PATH=" + m_folder + ":/nowhere"};
  const auto process = posix::spawn(request);
  ASSERT_FALSE(process.has_value());
  EXPECT_EQ(process.error().error_number, EACCES);
}

TEST_F(SpawnFiles, a_later_candidate_is_used_after_one_that_may_not_be_executed) {
  make("/prog", "x", 0600);
  ASSERT_EQ(::mkdir((m_folder + "/sub").c_str(), 0700), 0);
  make("/sub/prog", "#!/bin/sh\necho second\n", 0700);
  SpawnRequest request;
  request.argv = {"prog"};
  request.env = {"PATH=" + m_folder + ":" + m_folder + "/sub"};
  EXPECT_EQ(run(request).text, "second\n");
}

TEST_F(SpawnFiles, a_file_without_format_is_not_given_to_a_shell) {
  SpawnRequest request;
  request.argv = {make("/prog", "echo hi\n", 0700)};
  const auto process = posix::spawn(request);
  ASSERT_FALSE(process.has_value());
  EXPECT_EQ(process.error().error_number, ENOEXEC);
  EXPECT_THAT(process.error().message(), HasSubstr(": Exec format error"));
}

TEST(Spawn, a_missing_directory_is_named) {
  auto request = shell("true");
  request.chdir = "/no/such/place";
  const auto process = posix::spawn(request);
  ASSERT_FALSE(process.has_value());
  EXPECT_EQ(process.error().stage, SpawnError::Stage::chdir);
  EXPECT_EQ(process.error().message(), "chdir /no/such/place: No such file or directory");
}

TEST(Spawn, group_and_session_are_as_asked) {
  const std::string ids = "read -r pid _ _ ppid pgrp sid _ </proc/$$/stat; echo $pid $pgrp $sid";
  const auto text = [](pid_t pid, pid_t group, pid_t session) {
    return std::to_string(pid) + " " + std::to_string(group) + " " + std::to_string(session) + "\n";
  };
  auto request = shell(ids);
  auto ran = run(request);
  EXPECT_EQ(ran.text, text(ran.pid, ::getpgrp(), ::getsid(0)));
  request.group = ProcessGroup::own;
  ran = run(request);
  EXPECT_EQ(ran.text, text(ran.pid, ran.pid, ::getsid(0)));
  request.group = ProcessGroup::session;
  ran = run(request);
  EXPECT_EQ(ran.text, text(ran.pid, ran.pid, ran.pid));
}

TEST(Spawn, descriptors_above_two_do_not_leak) {
  const int leaky =
      ::fcntl(2, F_DUPFD, 200); // without close-on-exec, as a caller of srun leaves it
  ASSERT_GE(leaky, 200);
  EXPECT_EQ(run(shell(test::k_list_descriptors)).text, "0 1 2 ");
  ::close(leaky);
}

TEST(Spawn, standard_descriptors_may_be_swapped) {
  auto out = posix::make_pipe().value();
  auto err = posix::make_pipe().value();
  const int saved_out = ::dup(1);
  const int saved_err = ::dup(2);
  ::dup2(out.write.get(), 1);
  ::dup2(err.write.get(), 2);
  auto request = shell("echo to-out; echo to-err >&2");
  request.env = {"PATH=/bin"};
  request.stdout_fd = 2;
  request.stderr_fd = 1;
  const auto process = posix::spawn(request);
  ::dup2(saved_out, 1);
  ::dup2(saved_err, 2);
  ::close(saved_out);
  ::close(saved_err);
  out.write.reset();
  err.write.reset();
  ASSERT_TRUE(process.has_value());
  EXPECT_EQ(posix::read_fd(out.read.get()).value(), "to-err\n");
  EXPECT_EQ(posix::read_fd(err.read.get()).value(), "to-out\n");
  EXPECT_EQ(wait_status(process->pid), 0);
}

TEST(Spawn, signals_are_default_and_unblocked_in_the_child_and_unchanged_here) {
  sigset_t usr1;
  ::sigemptyset(&usr1);
  ::sigaddset(&usr1, SIGUSR1);
  ::sigprocmask(SIG_BLOCK, &usr1, nullptr);
  const auto before = ::signal(SIGINT, SIG_IGN);
  const auto ran = run(shell(test::k_show_signals));
  EXPECT_EQ(ran.text, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
  sigset_t now;
  ::sigprocmask(SIG_UNBLOCK, &usr1, &now);
  EXPECT_EQ(::sigismember(&now, SIGUSR1), 1);
  EXPECT_EQ(::signal(SIGINT, before), SIG_IGN);
}

TEST(Spawn, the_pid_variable_holds_the_pid) {
  auto request = shell("test $$ = $TASK_PID && env | grep -c TASK_PID");
  request.env = {"TASK_PID=stale", "PATH=/bin:/usr/bin"};
  request.pid_variable = "TASK_PID";
  EXPECT_EQ(run(request).text, "1\n");
}

TEST(Spawn, affinity_that_cannot_be_set_is_a_warning_of_the_child) {
  auto request = shell("echo ran");
  request.cpus = {100000};
  request.affinity_warning = "warning: cpus \"100000\": ";
  EXPECT_EQ(run(request).text, "warning: cpus \"100000\": Invalid argument\nran\n");
}

TEST(Spawn, the_open_file_limit_is_the_childs_alone) {
  auto request = shell("ulimit -Sn; ulimit -Hn");
  rlimit own{};
  ::getrlimit(RLIMIT_NOFILE, &own);
  request.open_files = posix::OpenFileLimit{77, 99};
  EXPECT_EQ(run(request).text, "77\n99\n");
  rlimit after{};
  ::getrlimit(RLIMIT_NOFILE, &after);
  EXPECT_EQ(after.rlim_cur, own.rlim_cur);
}

TEST(Spawn, the_parent_death_signal_reaches_the_child) {
  auto pipe = posix::make_pipe().value();
  const auto middle = posix::fork_process();
  ASSERT_TRUE(middle.has_value());
  if (*middle == 0) {
    auto request = shell("exec sleep 100"); // a forked sleep would not carry the signal
    request.env = {"PATH=/bin:/usr/bin"};
    request.stdout_fd = pipe.write.get();
    request.parent_death_signal = SIGKILL;
    ::_exit(posix::spawn(request).has_value() ? 0 : 1);
  }
  pipe.write.reset();
  EXPECT_EQ(wait_status(*middle), 0);
  // The sleeping child holds the only write end: end of file means that it is gone.
  pollfd end{pipe.read.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&end, 1, 10000), 1);
}

TEST(Spawn, the_pidfd_becomes_readable_at_the_end) {
  auto request = shell("exit 4");
  request.env = {"PATH=/bin"};
  request.want_pidfd = true;
  const auto process = posix::spawn(request);
  ASSERT_TRUE(process.has_value());
  ASSERT_TRUE(process->pidfd.valid());
  pollfd end{process->pidfd.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&end, 1, 10000), 1);
  EXPECT_EQ(WEXITSTATUS(wait_status(process->pid)), 4);
}

TEST(Spawn, candidates_follow_the_last_path_of_the_environment) {
  using testing::ElementsAre;
  EXPECT_THAT(posix::program_candidates("a/b", {"PATH=/x"}), ElementsAre("a/b"));
  EXPECT_THAT(posix::program_candidates("p", {"PATH=/x::/y"}), ElementsAre("/x/p", "p", "/y/p"));
  EXPECT_TRUE(posix::program_candidates("p", {"HOME=/"}).empty()); // no PATH, no program
  EXPECT_TRUE(posix::program_candidates("", {"PATH=/x"}).empty());
}

} // namespace
