#include "hooks.h"

#include "slurm_shim/posix/spawn.h"

#include <cerrno>

#include <sys/wait.h>

namespace shim::commands::srun {

void run_hook(context::Context& ctx, const StepPlan& plan, const std::string& program) {
  if (program.empty() || program == "none") return;
  posix::SpawnRequest request;
  request.argv = plan.request.command;
  request.argv.insert(request.argv.begin(), program);
  auto env = plan.env;
  env.set("SLURM_STEP_ID", std::to_string(plan.step_id));
  env.set("SLURM_STEPID", std::to_string(plan.step_id));
  request.env = std::move(env).take();
  request.stdin_fd = posix::k_null_fd; // srun's own is for the tasks
  const auto process = posix::spawn(request);
  if (!process) return ctx.error(process.error().message());
  while (::waitpid(process->pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

} // namespace shim::commands::srun
