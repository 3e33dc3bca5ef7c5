#pragma once
// A plan as text or JSON. Pure. Spec install-doctor-ports
// 1.3.

#include "install_plan.h"
#include "install_undo.h"

#include <string>
#include <vector>

namespace shim::commands::admin {

// `applying`: the heading does not claim that nothing is changed.
[[nodiscard]] std::string plan_text(const Plan& plan,
                                    const InstallFacts& facts,
                                    const InstallOptions& options,
                                    bool applying);

// What became of it.
struct Outcome {
  std::string result = "plan"; // plan, applied, unchanged, blocked, refused, failed
  std::string error;
  std::vector<std::string> warnings;
  Journal::Report undo;
};
[[nodiscard]] std::string plan_json(const Plan& plan,
                                    const InstallFacts& facts,
                                    const InstallOptions& options,
                                    const Outcome& outcome);

[[nodiscard]] std::string command_text(const Action& action);

} // namespace shim::commands::admin
