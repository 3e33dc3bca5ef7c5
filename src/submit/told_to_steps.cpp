#include "told_to_steps.h"

#include <fmt/core.h>

namespace shim::submit {

std::vector<std::string> told_to_steps(const Request& request) {
  std::vector<std::string> lines;
  if (request.hint)
    lines.push_back(
        fmt::format("--hint: \"{}\" binds no task: steps find it in SLURM_HINT", *request.hint));
  if (request.threads_per_core)
    lines.emplace_back("--threads-per-core: a slot is what the cluster counts as a CPU, threads of "
                       "a core are not told apart: steps find it in SLURM_THREADS_PER_CORE");
  if (request.tasks_per_core)
    lines.emplace_back("--ntasks-per-core: tasks are not dealt out to cores: steps find it in "
                       "SLURM_NTASKS_PER_CORE");
  if (request.tasks_per_socket)
    lines.emplace_back("--ntasks-per-socket: tasks are not dealt out to sockets: steps find it in "
                       "SLURM_NTASKS_PER_SOCKET");
  return lines;
}

} // namespace shim::submit
