#include "rank_start.h"

#include "rank_exec.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/affinity.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/rankenv/rankenv.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace shim::stepper {

namespace {

// The environment of the rank but its pid.
EnvList environment_of(const EnvList& step_env,
                       const std::string& host,
                       const proto::StepSpec& spec,
                       const proto::RankSpec& rank) {
  return rankenv::rank_environment(step_env, rank.env_delta, {host, spec.gpu_env_var, &rank.gpus});
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
      m_directory(std::move(directory)), m_open_files(open_files) {
  if (const auto all = ::sysconf(_SC_NPROCESSORS_ONLN); all > 0)
    m_is_limited = m_allowed.size() < static_cast<std::size_t>(all);
  for (const auto& name : spec.host_env) {
    m_step_env.unset(name);
    if (const char* value = std::getenv(name.c_str())) // NOLINT(concurrency-mt-unsafe): one thread
      m_step_env.set(name, value);
  }
}

// The positions as CPUs; none when one of them is not there: a wrong binding costs more than none.
std::vector<int> RankStarter::usable_cpus(std::vector<int> positions, bool if_limited) const {
  if (if_limited && !m_is_limited) return {};
  for (auto& cpu : positions) {
    if (cpu < 0 || static_cast<std::size_t>(cpu) >= m_allowed.size()) return {};
    cpu = m_allowed[static_cast<std::size_t>(cpu)];
  }
  return positions;
}

tl::expected<pid_t, proto::RankFail> RankStarter::start(const proto::RankSpec& rank,
                                                        const RankStdio& stdio) const {
  auto cpus = posix::parse_cpu_list(rank.cpuset);
  if (!cpus) return tl::unexpected(proto::RankFail{1, cpus.error().message});
  posix::SpawnRequest request;
  request.argv = rank.command.empty() ? m_spec.command : rank.command;
  if (!m_spec.task_prolog.empty()) {
    const auto self = posix::self_path();
    if (!self) return tl::unexpected(proto::RankFail{1, self.error().message});
    request.program = *self;
    request.argv.insert(request.argv.begin(),
                        {"slurm-shim", "rank-exec", "--task-prolog", m_spec.task_prolog, "--"});
  }
  request.env = environment_of(m_step_env, m_host, m_spec, rank).take();
  request.stdin_fd = stdio.in;
  request.stdout_fd = stdio.out;
  request.stderr_fd = stdio.err;
  // A session's leader leads a group, too: signals find the rank in the same way.
  request.group = stdio.is_terminal ? posix::ProcessGroup::session : posix::ProcessGroup::own;
  request.controlling_terminal = stdio.is_terminal;
  request.parent_death_signal = SIGKILL;
  request.cpus = usable_cpus(*cpus, rank.cpuset_if_limited);
  request.affinity_warning =
      "slurm-shim: warning: could not set CPU affinity to \"" + rank.cpuset + "\": ";
  request.open_files = m_open_files;
  request.pid_variable = rankenv::k_task_pid;
  const auto process = posix::spawn(request);
  if (!process) return tl::unexpected(explain(process.error(), request));
  return process->pid;
}

tl::expected<pid_t, std::string>
RankStarter::start_epilog(const proto::RankSpec& rank, const RankStdio& stdio, pid_t task) const {
  posix::SpawnRequest request;
  request.argv = {m_spec.task_epilog};
  auto env = environment_of(m_step_env, m_host, m_spec, rank);
  env.set(rankenv::k_task_pid, std::to_string(task));
  request.env = std::move(env).take();
  request.stdin_fd = posix::k_null_fd;
  request.stdout_fd = stdio.out;
  request.stderr_fd = stdio.err;
  request.group = posix::ProcessGroup::own;
  request.parent_death_signal = SIGKILL;
  request.open_files = m_open_files;
  const auto process = posix::spawn(request);
  if (process) return process->pid;
  const char* reason = ::strerrordesc_np(process.error().error_number);
  return tl::unexpected("task epilog " + m_spec.task_epilog + ": " +
                        (reason != nullptr ? reason : "unknown error"));
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
  return {exit_code_of_exec(error.error_number),
          "execve(): " + subject + ": " + (reason != nullptr ? reason : "unknown error")};
}

} // namespace shim::stepper
