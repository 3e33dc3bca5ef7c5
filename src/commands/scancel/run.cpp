#include "slurm_shim/commands/scancel.h"

namespace shim::commands {

int run_scancel(context::Context& ctx, const std::vector<std::string>&) {
  ctx.error("under construction");
  return 1;
}

} // namespace shim::commands
