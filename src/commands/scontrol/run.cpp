#include "slurm_shim/commands/scontrol.h"

namespace shim::commands {

int run_scontrol(context::Context& ctx, const std::vector<std::string>&) {
  ctx.error("under construction");
  return 1;
}

} // namespace shim::commands
