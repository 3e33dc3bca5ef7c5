#include "slurm_shim/commands/scancel.h"

namespace shim::commands {

cli::OptionTable scancel_options() { return {}; }

int run_scancel(context::Context& ctx, const std::vector<std::string>&) {
  ctx.error("under construction");
  return 1;
}

} // namespace shim::commands
