#include "script.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/spawn.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sys/wait.h>

namespace shim::batchexec {

namespace {

constexpr int k_exit_rerun = 99;
constexpr int k_exit_error_state = 100;
constexpr int k_exit_requeue = 99;
// Slurm's for a script that cannot be started: the error's number.
constexpr int k_exit_not_executable = EACCES;
constexpr int k_exit_not_found = ENOENT;

// The interpreter that the first line names, "" without one.
std::string interpreter_of(const std::string& path) {
  constexpr std::size_t k_kernel_reads = 256;
  const auto fd = posix::open_file(path, O_RDONLY);
  if (!fd) return "";
  char buffer[k_kernel_reads];
  const auto got = ::read(fd->get(), buffer, sizeof buffer);
  if (got < 2) return "";
  auto line = std::string_view(buffer, static_cast<std::size_t>(got));
  line = line.substr(0, line.find('\n'));
  if (!line.starts_with("#!")) return "";
  const auto words = split_words(line.substr(2));
  return words.empty() ? "" : std::string(words[0]);
}

Error not_started(const posix::SpawnError& error) {
  if (error.stage != posix::SpawnError::Stage::exec)
    return Error{ErrorKind::io, error.message(), slurm::k_exit_failure};
  auto text = error.message();
  if (error.error_number == ENOENT)
    if (const auto interpreter = interpreter_of(error.subject); !interpreter.empty())
      text = "bad interpreter(" + interpreter + "): No such file or directory";
  const int code = error.error_number == ENOENT ? k_exit_not_found : k_exit_not_executable;
  return Error{ErrorKind::io, "execve(): " + text, code};
}

} // namespace

ScriptEnd script_end(int wait_status) {
  if (!WIFSIGNALED(wait_status)) return {WEXITSTATUS(wait_status), 0};
  return {slurm::signal_exit(WTERMSIG(wait_status)), WTERMSIG(wait_status)};
}

int engine_exit_code(const ScriptEnd& end, bool requeue) {
  if (requeue) return k_exit_requeue;
  if (end.code == k_exit_rerun || end.code == k_exit_error_state) return slurm::k_exit_failure;
  return end.code;
}

Result<pid_t> start_script(const std::vector<std::string>& words,
                           const std::vector<std::string>& env,
                           int terminal) {
  posix::SpawnRequest request;
  request.argv = words;
  request.env = env;
  if (terminal >= 0) {
    request.stdin_fd = request.stdout_fd = request.stderr_fd = terminal;
    request.group = posix::ProcessGroup::session;
    request.controlling_terminal = true;
    // It is out of reach of what the engine does to our process group.
    request.parent_death_signal = SIGKILL;
  }
  auto process = posix::spawn(request);
  if (!process && process.error().error_number == ENOEXEC) {
    // No #! line: as shells and the engine do.
    request.argv.insert(request.argv.begin(), "/bin/sh");
    process = posix::spawn(request);
  }
  if (!process) return tl::unexpected<Error>(not_started(process.error()));
  return process->pid;
}

} // namespace shim::batchexec
