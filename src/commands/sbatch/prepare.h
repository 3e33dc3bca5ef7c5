#pragma once
// From sbatch's words to a typed request: script, values of all sources, files that options name.
// Shared by sbatch and explain; submits and prints nothing. Spec sbatch-translate 1.

#include "input.h"
#include "script.h"

#include "slurm_shim/context/context.h"
#include "slurm_shim/submit/request.h"

#include <ctime>
#include <string>
#include <vector>

namespace shim::commands::sbatch {

struct Prepared {
  submit::Script script;
  std::vector<std::string> arguments; // of the script
  Values values;
  submit::Request request; // not verified yet
};

// Errors carry complete lines.
[[nodiscard]] Result<Prepared> prepare(const context::Context& ctx,
                                       const cli::Parsed& command_line,
                                       const std::string& directory,
                                       std::time_t now);

// Entries of a file of --export-file: NAME=value, each ended by a NUL.
[[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>>
parse_export_file(std::string_view bytes, const std::string& name);

// Hosts of a file of --nodefile, in its order, separated by blanks, commas or line feeds.
[[nodiscard]] std::string parse_node_file(std::string_view text);

} // namespace shim::commands::sbatch
