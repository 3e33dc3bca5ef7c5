#include "slurm_shim/commands/admin.h"

namespace shim::commands {
int run_install(context::Context& ctx,
                const std::vector<std::string>&,
                const std::vector<std::string>&) {
  ctx.error("under construction");
  return 1;
}
} // namespace shim::commands
