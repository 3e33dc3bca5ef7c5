#pragma once
// Where option values come from and which source wins: command line over SBATCH_* variables over
// directives. Every value remembers its origin. Reads no files and checks no values.
// Spec sbatch-translate 1.

#include "script.h"

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/cli/option.h"
#include "slurm_shim/cli/parse.h"

#include <string>
#include <vector>

namespace shim::commands::sbatch {

// Errors carry getopt's text, exit 255.
[[nodiscard]] Result<cli::Parsed> parse_words(const std::vector<std::string>& words);

struct Values {
  std::vector<cli::Given> given; // of all sources, rising precedence
  std::vector<std::string> warnings;
  // For cli::warnings_of and refuse_unsupported: the same values and the ignored words.
  [[nodiscard]] cli::Parsed as_parsed() const { return {given, {}, ignored}; }
  std::vector<std::string> ignored;
  std::vector<cli::Origin> ignored_from; // of each of them
};

[[nodiscard]] Result<Values>
collect_values(const cli::Parsed& command_line, const EnvList& env, const Script& script);

} // namespace shim::commands::sbatch
