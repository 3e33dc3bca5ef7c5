#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/process_tree.h"
#include "slurm_shim/posix/signals.h"
#include "slurm_shim/posix/spawn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace shim;

// Runs `body` in a subreaper of its own, so that the test's other children are not touched.
template <class Body> int in_subreaper(Body body) {
  const auto pid = posix::fork_process().value();
  if (pid == 0) {
    ::alarm(60);
    ::_exit(posix::become_subreaper() ? body() : 99);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// A shell with the write end of `ready` as its stdout.
pid_t start_shell(const std::string& script, const posix::Pipe& ready) {
  posix::SpawnRequest request;
  request.argv = {"sh", "-c", script};
  request.env = {"PATH=/bin:/usr/bin"};
  request.stdin_fd = posix::k_null_fd;
  request.stdout_fd = ready.write.get();
  const auto process = posix::spawn(request);
  return process ? process->pid : -1;
}

void wait_for_byte(int fd) {
  char byte = 0;
  [[maybe_unused]] const auto got = ::read(fd, &byte, 1);
}

bool ends_within(int fd, int timeout_ms) {
  pollfd end{fd, POLLIN, 0};
  char byte = 0;
  return ::poll(&end, 1, timeout_ms) == 1 && ::read(fd, &byte, 1) == 0;
}

TEST(ProcessTree, sweep_leaves_no_plain_ignoring_setsid_or_daemon_child) {
  const struct {
    const char* name;
    const char* script;
  } kinds[] = {
      {"plain", "echo; sleep 100"},
      {"ignoring", "trap '' TERM INT HUP; echo; sleep 100"},
      {"setsid", "setsid sh -c 'trap \"\" TERM; echo; sleep 100' & sleep 100"},
      {"daemon", "(setsid sh -c 'trap \"\" TERM; echo; sleep 100' &) & wait"},
  };
  for (const auto& kind : kinds) {
    auto ready = posix::make_pipe().value();
    EXPECT_EQ(in_subreaper([&] {
                if (start_shell(kind.script, ready) < 0) return 1;
                ready.write.reset();
                wait_for_byte(ready.read.get());
                int reaped = 0;
                posix::sweep_descendants([&](pid_t, int) { ++reaped; });
                const bool none_left = ::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD;
                return none_left && reaped > 0 ? 0 : 2;
              }),
              0)
        << kind.name;
    ready.write.reset();
    EXPECT_TRUE(ends_within(ready.read.get(), 10000)) << kind.name;
  }
}

TEST(ProcessTree, sweep_outruns_a_process_that_forks_and_leaves) {
  auto ready = posix::make_pipe().value();
  EXPECT_EQ(in_subreaper([&] {
              const auto runner = posix::fork_process().value();
              if (runner == 0) {
                for (int round = 0;; ++round) { // each copy lives on as an orphan of the next
                  if (round == 50 && posix::write_all(ready.write.get(), "x") != 0) ::_exit(1);
                  ::setsid();
                  if (::fork() != 0) ::_exit(0);
                }
              }
              ready.write.reset();
              wait_for_byte(ready.read.get());
              posix::sweep_descendants([](pid_t, int) {});
              return ::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD ? 0 : 2;
            }),
            0);
  ready.write.reset();
  EXPECT_TRUE(ends_within(ready.read.get(), 10000));
}

// While leaders die of somebody else's signal their children change parents, and a listing of
// children may miss them for a moment: that is no reason to stop.
TEST(ProcessTree, sweep_goes_on_while_orphans_change_parents) {
  auto ready = posix::make_pipe().value();
  EXPECT_EQ(in_subreaper([&] {
              for (int round = 0; round < 100; ++round) {
                std::vector<pid_t> leaders;
                for (int rank = 0; rank < 4; ++rank) {
                  leaders.push_back(start_shell(
                      "sleep 100 & (trap '' TERM; exec sleep 100) & echo; exec sleep 100", ready));
                  wait_for_byte(ready.read.get());
                }
                const auto killer = posix::fork_process().value();
                if (killer == 0) {
                  for (const auto leader : leaders)
                    ::kill(leader, SIGKILL);
                  ::_exit(0);
                }
                posix::sweep_descendants([](pid_t, int) {});
                if (::waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD) return 2;
              }
              return 0;
            }),
            0);
}

TEST(ProcessTree, descendants_are_found_below_a_new_session_and_one_can_be_left_out) {
  auto ready = posix::make_pipe().value();
  EXPECT_EQ(in_subreaper([&] {
              const auto first = start_shell("setsid sleep 100 & echo; wait", ready);
              const auto second = start_shell("echo; exec sleep 100", ready);
              wait_for_byte(ready.read.get());
              wait_for_byte(ready.read.get());
              const auto all = posix::descendants_of(::getpid());
              const bool found = std::count(all.begin(), all.end(), first) == 1 &&
                                 std::count(all.begin(), all.end(), second) == 1 && all.size() == 3;
              if (posix::signal_descendants(SIGTERM, first) != 2) return 2;
              int status = 0;
              if (::waitpid(second, &status, 0) != second || WTERMSIG(status) != SIGTERM) return 3;
              posix::sweep_descendants([](pid_t, int) {});
              return found ? 0 : 4;
            }),
            0);
}

TEST(ProcessTree, sweep_waits_for_those_that_it_spares) {
  auto ready = posix::make_pipe().value();
  EXPECT_EQ(in_subreaper([&] {
              const auto spared = start_shell("echo; sleep 0.5; exit 7", ready);
              const auto other = start_shell("echo; exec sleep 100", ready);
              wait_for_byte(ready.read.get());
              wait_for_byte(ready.read.get());
              int status_of_spared = -1, status_of_other = -1;
              const auto is_spared = [&](pid_t pid) { // and what it waits for
                const auto below = posix::children_of(spared);
                return pid == spared || std::count(below.begin(), below.end(), pid) > 0;
              };
              const bool clean = posix::sweep_descendants(
                  [&](pid_t pid, int status) {
                    if (pid == spared) status_of_spared = status;
                    if (pid == other) status_of_other = status;
                  },
                  is_spared);
              if (!clean || WTERMSIG(status_of_other) != SIGKILL) return 2;
              return WIFEXITED(status_of_spared) && WEXITSTATUS(status_of_spared) == 7 ? 0 : 3;
            }),
            0);
}

TEST(Signals, a_blocked_signal_is_taken_from_its_descriptor) {
  EXPECT_EQ(in_subreaper([] {
              const auto fd = posix::block_into_signalfd({SIGUSR1, SIGTERM});
              if (!fd || posix::take_signal(fd->get()) != 0) return 1;
              ::raise(SIGTERM);
              if (posix::take_signal(fd->get()) != SIGTERM) return 2;
              return posix::take_signal(fd->get()) == 0 ? 0 : 3;
            }),
            0);
}

TEST(Signals, what_a_process_raises_itself_is_told_from_a_request) {
  EXPECT_EQ(in_subreaper([] {
              const auto fd = posix::block_into_signalfd({SIGPIPE});
              int ends[2];
              if (!fd || ::pipe(ends) != 0) return 1;
              ::close(ends[0]);
              if (::write(ends[1], "x", 1) >= 0) return 2; // raises PIPE
              if (posix::take_foreign_signal(fd->get()) != 0) return 3;
              const auto pid = posix::fork_process().value();
              if (pid == 0) ::_exit(::kill(::getppid(), SIGPIPE));
              ::waitpid(pid, nullptr, 0);
              return posix::take_foreign_signal(fd->get()) == SIGPIPE ? 0 : 4;
            }),
            0);
}

TEST(Signals, a_pidfd_tells_the_end_of_a_child) {
  const auto pid = posix::fork_process().value();
  if (pid == 0) ::_exit(5);
  const auto fd = posix::open_pidfd(pid);
  ASSERT_TRUE(fd.has_value());
  pollfd end{fd->get(), POLLIN, 0};
  EXPECT_EQ(::poll(&end, 1, 10000), 1);
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(WEXITSTATUS(status), 5);
}

} // namespace
