#include "task_prolog.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/fd.h"
#include "slurm_shim/posix/spawn.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace shim::stepper {

namespace {

constexpr std::size_t k_most_output = std::size_t{16} << 20; // as an environment may be large

// What the word is followed by; nothing when the line begins with another one.
std::optional<std::string_view> after(std::string_view line, std::string_view word) {
  if (!line.starts_with(word)) return std::nullopt;
  line.remove_prefix(word.size());
  if (!line.empty() && line.front() != ' ' && line.front() != '\t') return std::nullopt;
  const auto begin = line.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view{} : line.substr(begin);
}

// Until its end, or until the program has ended and nothing more is there: what it has left running
// in the background may keep the pipe for ever.
std::string read_output(int pipe, int pidfd) {
  std::string text;
  char buffer[65536];
  bool ended = false;
  for (;;) {
    pollfd ready[2] = {{pipe, POLLIN, 0}, {ended ? -1 : pidfd, POLLIN, 0}};
    const int count = ::poll(ready, 2, ended ? 0 : -1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    if (ready[1].revents != 0) ended = true;
    if (ready[0].revents == 0) continue;
    const auto got = ::read(pipe, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    if (text.size() < k_most_output) text.append(buffer, static_cast<std::size_t>(got));
  }
}

std::string describe(int status) {
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return "exit code " + std::to_string(WEXITSTATUS(status));
}

} // namespace

std::string apply_prolog_lines(std::string_view text, EnvList& env) {
  std::string printed;
  for (const auto line : split(text, '\n')) {
    if (const auto entry = after(line, "export")) {
      const auto equals = entry->find('=');
      if (equals != std::string_view::npos && equals > 0)
        env.set(trim(entry->substr(0, equals)), std::string(entry->substr(equals + 1)));
    } else if (const auto name = after(line, "unset")) {
      env.unset(trim(*name));
    } else if (const auto words = after(line, "print")) {
      printed += *words;
      printed += '\n';
    }
  }
  return printed;
}

Result<void> run_task_prolog(const std::string& program, EnvList& env) {
  const auto failed = [&](const std::string& why) {
    return fail(ErrorKind::refused, "task prolog " + program + ": " + why);
  };
  TRY_ASSIGN(auto pipe, posix::make_pipe());
  posix::SpawnRequest request;
  request.argv = {program};
  request.env = env.entries();
  request.stdin_fd = posix::k_null_fd;
  request.stdout_fd = pipe.write.get();
  request.parent_death_signal = SIGKILL;
  request.want_pidfd = true;
  const auto process = posix::spawn(request);
  if (!process) {
    const char* reason = ::strerrordesc_np(process.error().error_number);
    return failed(reason != nullptr ? reason : "unknown error");
  }
  pipe.write.reset();
  const auto text = read_output(pipe.read.get(), process->pidfd.get());
  int status = 0;
  while (::waitpid(process->pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) return failed(describe(status));
  const auto printed = apply_prolog_lines(text, env);
  static_cast<void>(posix::write_all(STDOUT_FILENO, printed)); // the task will hear of it
  return {};
}

} // namespace shim::stepper
