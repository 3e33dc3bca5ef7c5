#pragma once
// The commands beside the main ones that scripts probe: minimal but true tables (sstat, sprio,
// sshare, sdiag, sacctmgr show), sbcast, and refusals with the exit code that tools expect
// (sattach, sreport, strigger). Spec commands 9, vectors/12.

#include "slurm_shim/cli/option.h"
#include "slurm_shim/context/context.h"

#include <string>
#include <vector>

namespace shim::commands {

[[nodiscard]] cli::OptionTable sstat_options();
[[nodiscard]] int run_sstat(context::Context& ctx, const std::vector<std::string>& words);
[[nodiscard]] cli::OptionTable sprio_options();
[[nodiscard]] int run_sprio(context::Context& ctx, const std::vector<std::string>& words);
[[nodiscard]] cli::OptionTable sshare_options();
[[nodiscard]] int run_sshare(context::Context& ctx, const std::vector<std::string>& words);
[[nodiscard]] cli::OptionTable sacctmgr_options();
[[nodiscard]] int run_sacctmgr(context::Context& ctx, const std::vector<std::string>& words);
[[nodiscard]] cli::OptionTable sattach_options();
[[nodiscard]] int run_sattach(context::Context& ctx, const std::vector<std::string>& words);
[[nodiscard]] cli::OptionTable sbcast_options();
[[nodiscard]] int run_sbcast(context::Context& ctx, const std::vector<std::string>& words);
[[nodiscard]] cli::OptionTable sdiag_options();
[[nodiscard]] int run_sdiag(context::Context& ctx, const std::vector<std::string>& words);
[[nodiscard]] cli::OptionTable sreport_options();
[[nodiscard]] int run_sreport(context::Context& ctx, const std::vector<std::string>& words);
[[nodiscard]] cli::OptionTable strigger_options();
[[nodiscard]] int run_strigger(context::Context& ctx, const std::vector<std::string>& words);

} // namespace shim::commands
