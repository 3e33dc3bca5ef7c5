#include "slurm_shim/context/context.h"

#include "slurm_shim/posix/files.h"
#include "slurm_shim/slurm/exit_codes.h"

namespace shim::context {

void Context::error(std::string_view text) const {
  err.write(command + ": error: " + std::string(text) + "\n");
}

int Context::refuse(std::string_view why) const {
  error(why);
  return slurm::k_exit_failure;
}

void Context::warning(std::string_view text) const {
  err.write(command + ": warning: " + std::string(text) + "\n");
}

Result<void> load_config(Context& ctx) {
  const auto self = posix::self_path();
  const auto path = config::locate(ctx.env, self.value_or(""));
  if (path.empty()) return {};
  TRY_ASSIGN(auto loaded, config::load_file(path));
  for (const auto& warning : loaded.warnings)
    ctx.warning(warning);
  ctx.config = std::move(loaded.config);
  return {};
}

std::string version_text(const Context& ctx) {
  std::string compat = config::Config{}.compat_version;
  const auto path = config::locate(ctx.env, posix::self_path().value_or(""));
  if (!path.empty())
    if (const auto loaded = config::load_file(path)) compat = loaded->config.compat_version;
  return "slurm " + compat + "\n";
}

} // namespace shim::context
