#pragma once
// A plan as text or JSON, and the commands that take actions back. Pure. Spec install-doctor-ports
// 1.3.

#include "install_plan.h"

#include <string>
#include <vector>

namespace shim::commands::admin {

// `applying`: the heading does not claim that nothing is changed.
[[nodiscard]] std::string plan_text(const Plan& plan,
                                    const InstallFacts& facts,
                                    const InstallOptions& options,
                                    bool applying);
[[nodiscard]] std::string
plan_json(const Plan& plan, const InstallFacts& facts, const InstallOptions& options);

// "qconf -dp slurm-shim", newest first, for the first `done` actions.
[[nodiscard]] std::vector<std::string> undo_commands(const Plan& plan, std::size_t done);
[[nodiscard]] std::string command_text(const Action& action);

} // namespace shim::commands::admin
