#include "slurm_shim/commands/env.h"

namespace shim::commands {
int run_env(context::Context& ctx, const std::vector<std::string>&) {
  ctx.error("under construction");
  return 0;
}
} // namespace shim::commands
