#include "slurm_shim/commands/squeue.h"

namespace shim::commands {

int run_squeue(context::Context& ctx, const std::vector<std::string>&) {
  ctx.error("under construction");
  return 1;
}

} // namespace shim::commands
