#include "slurm_shim/launch/launcher.h"

#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/spawn.h"
#include "slurm_shim/slurm/exit_codes.h"

namespace shim::launch {

namespace {

std::vector<std::string> with_token(EnvList env, const proto::Token& token) {
  env.set(proto::k_token_variable, token.reveal());
  return std::move(env).take();
}

Result<pid_t> run(const posix::SpawnRequest& request) {
  auto process = posix::spawn(request);
  if (!process)
    return fail(ErrorKind::unavailable, process.error().message(), slurm::k_exit_launch);
  return process->pid;
}

} // namespace

Result<Started> start_local_stepper(const std::string& self,
                                    const std::string& envelope,
                                    const EnvList& own,
                                    const proto::Token& token) {
  posix::SpawnRequest request;
  request.program = self;
  request.argv = {self, "stepper", "--envelope", envelope};
  request.env = with_token(own, token);
  request.stdin_fd = posix::k_null_fd;
  request.stdout_fd = posix::k_null_fd;
  TRY_ASSIGN(const auto pid, run(request));
  return Started{pid, {}};
}

Result<Started> start_remote_stepper(const std::string& qrsh,
                                     const QrshTarget& target,
                                     const EnvList& own,
                                     const proto::Token& token) {
  TRY_ASSIGN(auto pipe, posix::make_pipe());
  TRY(posix::set_nonblocking(pipe.read.get()));
  posix::SpawnRequest request;
  request.program = qrsh;
  request.argv = build_qrsh_args(target);
  request.argv.insert(request.argv.begin(), qrsh);
  request.env = with_token(qrsh_environment(own), token);
  request.stdin_fd = posix::k_null_fd;
  request.stdout_fd = posix::k_null_fd;
  request.stderr_fd = pipe.write.get();
  request.group = posix::ProcessGroup::session;
  if (!posix::current_directory()) request.chdir = "/"; // qrsh refuses one that is removed
  TRY_ASSIGN(const auto pid, run(request));
  return Started{pid, std::move(pipe.read)};
}

} // namespace shim::launch
