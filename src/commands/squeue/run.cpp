#include "slurm_shim/commands/squeue.h"

namespace shim::commands {

cli::OptionTable squeue_options() { return {}; }

int run_squeue(context::Context& ctx, const std::vector<std::string>&) {
  ctx.error("under construction");
  return 1;
}

} // namespace shim::commands
