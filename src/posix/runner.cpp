#include "slurm_shim/posix/runner.h"

#include "slurm_shim/posix/fd.h"
#include "slurm_shim/posix/huge_pages.h"

#include <cerrno>
#include <csignal>
#include <new>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace shim::posix {

namespace {

using Steady = std::chrono::steady_clock;

struct SpawnAttributes {
  posix_spawnattr_t attributes{};
  posix_spawn_file_actions_t actions{};
  SpawnAttributes() {
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_init(&actions);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  ~SpawnAttributes() {
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
  }
};

struct Child {
  pid_t pid = -1;
  Fd in, out, err;
};

Result<Child> start(const RunRequest& request) {
  TRY_ASSIGN(auto in, make_pipe());
  TRY_ASSIGN(auto out, make_pipe());
  TRY_ASSIGN(auto err, make_pipe());
  SpawnAttributes spawn;
  sigset_t none;
  sigset_t all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&spawn.attributes, &none);
  ::posix_spawnattr_setsigdefault(&spawn.attributes, &all);
  ::posix_spawnattr_setpgroup(&spawn.attributes, 0);
  ::posix_spawnattr_setflags(
      &spawn.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  if (request.input.empty())
    ::posix_spawn_file_actions_addopen(&spawn.actions, 0, "/dev/null", O_RDONLY, 0);
  else
    ::posix_spawn_file_actions_adddup2(&spawn.actions, in.read.get(), 0);
  ::posix_spawn_file_actions_adddup2(&spawn.actions, out.write.get(), 1);
  ::posix_spawn_file_actions_adddup2(&spawn.actions, err.write.get(), 2);
  if (!request.chdir.empty())
    ::posix_spawn_file_actions_addchdir_np(&spawn.actions, request.chdir.c_str());

  std::vector<char*> argv;
  for (const auto& word : request.argv)
    argv.push_back(const_cast<char*>(word.c_str())); // NOLINT: the C interface, not written to
  argv.push_back(nullptr);
  EnvList env = request.env.value_or(EnvList{});
  auto envp = env.envp();
  Child child;
  const int error = ::posix_spawnp(&child.pid,
                                   argv[0],
                                   &spawn.actions,
                                   &spawn.attributes,
                                   argv.data(),
                                   request.env ? envp.data() : environ);
  if (error != 0) {
    auto failed = fail_errno("cannot run " + request.argv[0], error);
    failed.value().kind = ErrorKind::unavailable;
    return failed;
  }
  child.in = request.input.empty() ? Fd{} : std::move(in.write);
  child.out = std::move(out.read);
  child.err = std::move(err.read);
  return child;
}

// A reader that went away must not kill us: SIGPIPE is blocked while we feed stdin.
class SigpipeBlock {
public:
  SigpipeBlock() {
    ::sigemptyset(&m_pipe);
    ::sigaddset(&m_pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &m_pipe, &m_before);
  }
  SigpipeBlock(const SigpipeBlock&) = delete;
  SigpipeBlock& operator=(const SigpipeBlock&) = delete;
  ~SigpipeBlock() {
    const timespec now{};
    if (!::sigismember(&m_before, SIGPIPE))
      while (::sigtimedwait(&m_pipe, nullptr, &now) == SIGPIPE) {
      }
    ::pthread_sigmask(SIG_SETMASK, &m_before, nullptr);
  }

private:
  sigset_t m_pipe{}, m_before{};
};

enum class Drained { more, end };

// A string that doubles copies all it holds each time; a few big steps cost less, and memory that
// is not touched costs nothing.
void make_room(std::string& text, std::size_t more) {
  constexpr std::size_t k_big = std::size_t{1} << 20;
  constexpr std::size_t k_step = 8;
  if (text.size() + more <= text.capacity() || text.size() < k_big) return;
  try {
    text.reserve(text.size() * k_step);
  } catch (const std::bad_alloc&) {
    return; // Little address space: it grows as it can.
  }
  expect_to_fill(text.data(), text.capacity());
}

Drained drain(Fd& fd, std::string& into) {
  char buffer[65536];
  const auto got = ::read(fd.get(), buffer, sizeof buffer);
  if (got > 0) {
    make_room(into, static_cast<std::size_t>(got));
    into.append(buffer, static_cast<std::size_t>(got));
    return Drained::more;
  }
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return Drained::more;
  fd.reset();
  return Drained::end;
}

void feed(Fd& fd, std::string_view& rest) {
  const auto written = ::write(fd.get(), rest.data(), rest.size());
  if (written > 0)
    rest.remove_prefix(static_cast<std::size_t>(written));
  else if (errno != EINTR && errno != EAGAIN)
    rest = {};
  if (rest.empty()) fd.reset();
}

int reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Error gave_up(const RunRequest& request, pid_t pid, std::string why) {
  ::kill(-pid, SIGKILL);
  reap(pid);
  return Error{ErrorKind::unavailable, request.argv[0] + ": " + std::move(why), 1};
}

} // namespace

Result<Output> ProcessRunner::run(const RunRequest& request) {
  const SigpipeBlock no_sigpipe;
  TRY_ASSIGN(auto child, start(request));
  std::string_view rest = request.input;
  if (child.in) TRY(set_nonblocking(child.in.get()));
  const auto deadline = Steady::now() + request.timeout;
  Output output;
  while (child.out || child.err) {
    int wait_ms = -1;
    if (request.timeout.count() > 0) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Steady::now());
      if (left.count() <= 0)
        return tl::unexpected<Error>(
            gave_up(request,
                    child.pid,
                    "no answer within " + std::to_string(request.timeout.count()) + " ms"));
      wait_ms = static_cast<int>(left.count()) + 1;
    }
    pollfd fds[3] = {
        {child.out.get(), POLLIN, 0}, {child.err.get(), POLLIN, 0}, {child.in.get(), POLLOUT, 0}};
    if (::poll(fds, 3, wait_ms) < 0 && errno != EINTR)
      return tl::unexpected<Error>(gave_up(request, child.pid, "poll failed"));
    if (child.in && fds[2].revents != 0) feed(child.in, rest);
    if (child.out && fds[0].revents != 0) drain(child.out, output.out);
    if (child.err && fds[1].revents != 0) drain(child.err, output.err);
    if (output.out.size() > request.output_limit || output.err.size() > request.output_limit)
      return tl::unexpected<Error>(gave_up(request, child.pid, "too much output"));
  }
  output.status = reap(child.pid);
  return output;
}

} // namespace shim::posix
