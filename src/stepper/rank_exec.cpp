#include "rank_exec.h"

#include "task_prolog.h"

#include "slurm_shim/posix/affinity.h"
#include "slurm_shim/posix/fd.h"
#include "slurm_shim/posix/signals.h"
#include "slurm_shim/posix/spawn.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/stepper/stepper.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace shim::stepper {

namespace {

constexpr int k_status_fd = 3;
constexpr int k_exit_not_started = 127;

std::string reason_of(int error) {
  const char* reason = ::strerrordesc_np(error);
  return reason != nullptr ? reason : "unknown error";
}

// Where the starter reads why the rank never ran; a user who tries the subcommand reads stderr.
int give_up(const std::string& text) {
  const int fd = ::fcntl(k_status_fd, F_GETFD) >= 0 ? k_status_fd : 2;
  static_cast<void>(posix::write_all(fd, fd == 2 ? text + "\n" : text));
  return k_exit_not_started;
}

void bind(const std::string& cpuset) {
  const auto cpus = posix::parse_cpu_list(cpuset);
  std::string reason;
  if (!cpus)
    reason = cpus.error().message;
  else if (const int error = cpus->empty() ? 0 : posix::set_affinity(*cpus); error != 0)
    reason = reason_of(error);
  if (!reason.empty())
    static_cast<void>(posix::write_all(2,
                                       "slurm-shim: warning: could not set CPU affinity to \"" +
                                           cpuset + "\": " + reason + "\n"));
}

// As execvp, but in the PATH of `env` and without handing a format error to a shell.
int execute(const std::vector<std::string>& command, EnvList env) {
  std::vector<char*> argv;
  for (const auto& word : command)
    argv.push_back(const_cast<char*>(word.c_str())); // NOLINT: the C interface, not written to
  argv.push_back(nullptr);
  const auto envp = env.envp();
  bool denied = false;
  int error = ENOENT;
  for (const auto& candidate : posix::program_candidates(command[0], env.entries())) {
    ::execve(candidate.c_str(), argv.data(), envp.data());
    error = errno;
    denied = denied || error == EACCES;
    if (error != ENOENT && error != ENOTDIR && error != EACCES) return error;
  }
  return denied ? EACCES : error;
}

} // namespace

int exit_code_of_exec(int error_number) {
  if (error_number == ENOENT) return slurm::k_exit_not_found;
  if (error_number == EACCES) return slurm::k_exit_permission;
  return slurm::k_exit_failure;
}

Result<RankExecRequest> parse_rank_exec(std::span<char* const> args) {
  RankExecRequest request;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view word = args[i];
    if (word == "--") {
      request.command.assign(args.begin() + static_cast<std::ptrdiff_t>(i) + 1, args.end());
      if (request.command.empty()) return fail(ErrorKind::usage, "no command after --");
      return request;
    }
    if (word != "--cpuset" && word != "--chdir" && word != "--task-prolog")
      return fail(ErrorKind::usage, "unknown rank-exec argument \"" + std::string(word) + "\"");
    if (i + 1 == args.size()) return fail(ErrorKind::usage, std::string(word) + " needs a value");
    auto& target = word == "--cpuset"  ? request.cpuset
                   : word == "--chdir" ? request.chdir
                                       : request.task_prolog;
    target = args[++i];
  }
  return fail(ErrorKind::usage, "missing -- command separator");
}

int rank_exec_main(std::span<char* const> args) {
  if (::fcntl(k_status_fd, F_GETFD) >= 0) ::fcntl(k_status_fd, F_SETFD, FD_CLOEXEC);
  const auto request = parse_rank_exec(args);
  if (!request) return give_up("rank-exec: " + request.error().message);
  if (!request->cpuset.empty()) bind(request->cpuset);
  if (!request->chdir.empty() && ::chdir(request->chdir.c_str()) != 0)
    return give_up("chdir: " + request->chdir + ": " + reason_of(errno));
  auto env = EnvList::from_envp(environ);
  env.set("SLURM_TASK_PID", std::to_string(::getpid()));
  posix::reset_signals();
  const bool has_prolog = !request->task_prolog.empty();
  const auto host = "slurmstepd-" + env.get_or("SLURMD_NODENAME", "") + ": error: ";
  if (has_prolog)
    if (const auto done = run_task_prolog(request->task_prolog, env); !done) {
      give_up(host + done.error().message);
      return slurm::k_exit_failure;
    }
  const int error = execute(request->command, std::move(env));
  const auto why = "execve(): " + request->command[0] + ": " + reason_of(error);
  if (!has_prolog) return give_up(why);
  give_up(host + why); // as if the guardian had found it out
  return exit_code_of_exec(error);
}

} // namespace shim::stepper
