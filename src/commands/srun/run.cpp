#include "slurm_shim/commands/srun.h"

namespace shim::commands {

int run_srun(context::Context& ctx, const std::vector<std::string>&) {
  ctx.error("under construction");
  return 1;
}

} // namespace shim::commands
