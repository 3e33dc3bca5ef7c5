#pragma once
// The directive lines of a batch script as words, split exactly as Slurm splits them: the marker at
// column 0 with or without a blank behind it, quotes, backslashes, comments at the beginning of a
// word, the scan ending at the first command. Pure; knows no options. Callers: input.cpp and
// foreign.cpp. Spec sbatch-translate 2.1, vectors 04 `dir.*`.

#include "slurm_shim/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace shim::commands::sbatch {

struct DirectiveWord {
  std::string text;
  int line = 0; // 1-based line of the script
  friend bool operator==(const DirectiveWord&, const DirectiveWord&) = default;
};

// All words of all lines that start with `marker` ("#SBATCH"), in order: Slurm parses them as one
// command line. Error (exit 1): an unmatched quote, with Slurm's whole line, naming `script_name`.
[[nodiscard]] Result<std::vector<DirectiveWord>>
read_directives(std::string_view script, std::string_view marker, const std::string& script_name);

// Lines that start with `marker` and a blank behind the first command, where they are comments.
// What stands in a here-document is another script's.
[[nodiscard]] std::vector<int> late_directives(std::string_view script, std::string_view marker);

} // namespace shim::commands::sbatch
