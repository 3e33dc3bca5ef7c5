#pragma once
// How a command begins: its words are parsed, and what it can answer by itself is answered.
// Callers: every command with an option table; those with rules of their own take the parts.

#include "slurm_shim/cli/help.h"
#include "slurm_shim/cli/parse.h"
#include "slurm_shim/context/context.h"

#include <optional>
#include <string>
#include <vector>

namespace shim::context {

// --help, --usage or --version, whichever was written first, is printed: true. It needs neither
// configuration nor engine.
[[nodiscard]] bool answer_about_itself(const Context& ctx,
                                       cli::OptionTable table,
                                       const cli::HelpFrame& frame,
                                       const cli::Parsed& parsed);

struct Opening {
  cli::Parsed parsed;
  std::optional<int> code; // set: everything has been said, the command ends with it
};
// For commands that only ask and control (spec commands 2): options are found after positional
// words too, a bad one is getopt's message and exit 1, one that is rejected by design is an error,
// those without effect are warned about.
[[nodiscard]] Opening open(const Context& ctx,
                           cli::OptionTable table,
                           const cli::HelpFrame& frame,
                           const std::vector<std::string>& words,
                           bool try_line = true);

} // namespace shim::context
