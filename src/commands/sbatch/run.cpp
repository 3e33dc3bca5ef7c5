#include "slurm_shim/commands/sbatch.h"

namespace shim::commands {

int run_sbatch(context::Context& ctx, const std::vector<std::string>&) {
  ctx.error("under construction");
  return 1;
}

} // namespace shim::commands
