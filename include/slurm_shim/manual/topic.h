#pragma once
// What there is to write about one command: its --help text, taken apart, and its option table.
// Man pages, completion and docs/compatibility.md are made from nothing else, so that none of them
// can tell another story than the command itself. Used at build time; not part of the binary.

#include "slurm_shim/app/commands.h"
#include "slurm_shim/base/result.h"
#include "slurm_shim/cli/option.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace shim::manual {

struct Subcommand {
  std::string_view word; // "prune", "show hostnames"
  std::string_view help; // may be ""
};

// All views look into *help or into the option table.
struct Topic {
  std::string name;    // as it is called: "sbatch", "slurm-shim install"
  std::string page;    // name of its page: "sbatch", "slurm-shim-install"
  int section = 1;     // of the manual: 1 for users, 8 for administrators
  std::string summary; // of the table of commands
  std::shared_ptr<const std::string> help;
  std::string_view synopsis;                 // first word is the command
  std::vector<std::string_view> description; // lines; "" between paragraphs
  std::vector<cli::Option> options;          // hidden ones and other spellings included
  std::vector<Subcommand> subcommands;
  std::vector<std::string_view> epilogue; // lines behind the options

  // Whether there is a link of this name, so that a shell completes it by itself.
  [[nodiscard]] bool has_own_name() const { return name == page; }
};

// From a --help text: that of an option table (cli::help_text), of CLI11's App, or written by hand
// with lines such as "  --export   what it does". Error (malformed) when it names no usage.
[[nodiscard]] Result<Topic> parse_topic(const app::Command& command, std::string help);

// Runs `--help` of every command that is called by people; sorted by page. Error (malformed) names
// a command that fails at it.
[[nodiscard]] Result<std::vector<Topic>> read_topics();

} // namespace shim::manual
