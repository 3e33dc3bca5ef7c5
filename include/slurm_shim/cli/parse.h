#pragma once
// The walk over an option table, in getopt_long's dialect as glibc has it (Slurm uses it too):
// --opt=value, --opt value, -Xvalue, -X value, clusters of letters, unique abbreviations, optional
// values only when attached, `--`, stop at the first positional word. Messages are getopt's.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/base/result.h"
#include "slurm_shim/cli/option.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::cli {

// Where a value came from: a message can name script and line.
struct Origin {
  enum class Kind { command_line, environment, directive, config } kind = Kind::command_line;
  std::string name; // variable name, or script path for a directive
  int line = 0;     // directive: 1-based line of the script
};

struct Given {
  const Option* option = nullptr;
  std::optional<std::string> value; // nothing for Arity::none and an omitted optional value
  Origin origin;
  std::size_t word = 0; // index of the word that named it
};

struct Parsed {
  std::vector<Given> given;         // in order of appearance; the last one of an option wins
  std::vector<std::string> rest;    // from the first positional word on
  std::vector<std::string> ignored; // unknown `--x=v` / `--x` words taken as site plugin options

  [[nodiscard]] const Given* last(std::string_view long_name) const;
  [[nodiscard]] bool has(std::string_view long_name) const { return last(long_name) != nullptr; }
};

struct ParseRules {
  std::string command;                // message prefix, "sbatch"
  bool tolerate_unknown_long = false; // decision 21: `--x` and `--x=v` are kept in `ignored`
  bool permute = false; // options are found after positional words too (squeue, scancel, scontrol)
  bool try_line = true; // the second line `Try "sbatch --help" for more information`
};

// Error (usage, exit code by the caller's convention) with getopt's text, for example
// "sbatch: unrecognized option '--nope'" and the Try line, already complete but for the last line
// feed: `ctx.say(error.message + "\n")`. With tolerate_unknown_long an unknown `--x` that a plain
// word follows is refused, since nobody can tell whether the word is its value.
[[nodiscard]] Result<Parsed>
parse(OptionTable table, const std::vector<std::string>& words, const ParseRules& rules);

// The option's value as given, else that of its input variable in the table, else "".
[[nodiscard]] std::string
value_of(const Parsed& parsed, OptionTable table, const EnvList& env, std::string_view long_name);

} // namespace shim::cli
