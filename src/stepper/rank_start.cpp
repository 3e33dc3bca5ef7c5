#include "rank_start.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/affinity.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/rankenv/rankenv.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace shim::stepper {

namespace {

int exit_code_of(int error_number) {
  if (error_number == ENOENT) return slurm::k_exit_not_found;
  if (error_number == EACCES) return slurm::k_exit_permission;
  return slurm::k_exit_failure;
}

} // namespace

std::string interpreter_of(const std::string& path) {
  const auto file = posix::open_file(path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
  if (!file) return {};
  char head[256];
  const auto got = ::read(file->get(), head, sizeof head);
  if (got < 2) return {};
  auto line = std::string_view(head, static_cast<std::size_t>(got));
  if (!line.starts_with("#!")) return {};
  line = line.substr(2, line.substr(2).find('\n'));
  const auto words = split_words(line);
  return words.empty() ? std::string() : std::string(words[0]);
}

RankStarter::RankStarter(const proto::StepSpec& spec,
                         std::string host,
                         std::string directory,
                         posix::OpenFileLimit open_files)
    : m_spec(spec), m_step_env(spec.env), m_host(std::move(host)),
      m_directory(std::move(directory)), m_open_files(open_files) {}

tl::expected<pid_t, proto::RankFail> RankStarter::start(const proto::RankSpec& rank,
                                                        const RankStdio& stdio) const {
  const auto cpus = posix::parse_cpu_list(rank.cpuset);
  if (!cpus) return tl::unexpected(proto::RankFail{1, cpus.error().message});
  posix::SpawnRequest request;
  request.argv = m_spec.command;
  request.env = rankenv::rank_environment(
                    m_step_env, rank.env_delta, {m_host, m_spec.gpu_env_var, &rank.gpus})
                    .take();
  request.stdout_fd = stdio.out;
  request.stderr_fd = stdio.err;
  request.group = posix::ProcessGroup::own;
  request.parent_death_signal = SIGKILL;
  request.cpus = *cpus;
  request.affinity_warning =
      "slurm-shim: warning: could not set CPU affinity to \"" + rank.cpuset + "\": ";
  request.open_files = m_open_files;
  request.pid_variable = rankenv::k_task_pid;
  const auto process = posix::spawn(request);
  if (!process) return tl::unexpected(explain(process.error(), request));
  return process->pid;
}

proto::RankFail RankStarter::explain(const posix::SpawnError& error,
                                     const posix::SpawnRequest& request) const {
  if (error.stage != posix::SpawnError::Stage::exec) return {1, "spawn: " + error.message()};
  const auto& typed = request.argv[0];
  // Slurm's srun has put its working directory in front of a relative path by then.
  const bool relative = typed.find('/') != std::string::npos && typed[0] != '/';
  std::string subject = relative ? m_directory + "/" + typed : typed;
  if (error.error_number == ENOENT)
    for (const auto& candidate : posix::program_candidates(typed, request.env))
      if (const auto interpreter = interpreter_of(candidate); !interpreter.empty()) {
        subject = "bad interpreter(" + interpreter + ")";
        break;
      }
  const char* reason = ::strerrordesc_np(error.error_number);
  return {exit_code_of(error.error_number),
          "execve(): " + subject + ": " + (reason != nullptr ? reason : "unknown error")};
}

} // namespace shim::stepper
