#pragma once
// The one table of commands. Links, help and dispatch come from it.

#include "slurm_shim/cli/option.h"
#include "slurm_shim/context/context.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shim::app {

enum class Kind : std::uint8_t { user, admin, internal };

struct Command {
  std::string_view name; // subcommand of slurm-shim
  std::string_view link; // name of the link beside the binary; "" = none
  Kind kind;
  std::string_view summary;
  cli::OptionTable (*options)();                                  // nullptr: parses its own words
  int (*run)(context::Context&, const std::vector<std::string>&); // user and admin commands
  int (*run_internal)(std::span<char* const>);                    // internal: before any Context
};

[[nodiscard]] std::span<const Command> commands(); // sorted by name
// By subcommand name or link name; nullptr when there is none.
[[nodiscard]] const Command* find_command(std::string_view name);
[[nodiscard]] std::vector<std::string> link_names();

} // namespace shim::app
