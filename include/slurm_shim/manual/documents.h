#pragma once
// The texts that are made from topics. Pure: the same topics give the same bytes.

#include "slurm_shim/manual/topic.h"

#include <string>
#include <string_view>
#include <vector>

namespace shim::manual {

// One command's page in man(7) macros; plain ASCII.
[[nodiscard]] std::string man_page(const Topic& topic, std::string_view version);
// slurm-shim(8): what the binary is, its commands, its files.
[[nodiscard]] std::string root_page(const std::vector<Topic>& topics, std::string_view version);

// The tables behind scripts/completion.bash; one file for all commands.
[[nodiscard]] std::string bash_completion(const std::vector<Topic>& topics);
// One file for all commands that have a name of their own.
[[nodiscard]] std::string zsh_completion(const std::vector<Topic>& topics);
// One file for each command that has a name of its own.
[[nodiscard]] std::string fish_completion(const Topic& topic);

// docs/compatibility.md: every option of every Slurm command and what it does here.
[[nodiscard]] std::string compatibility(const std::vector<Topic>& topics);

// "a b\n   c" with single blanks: help texts are folded for a terminal.
[[nodiscard]] std::string unfolded(std::string_view text);
// What a limit is called: "refused", "no effect", ...; "" for an option that works.
[[nodiscard]] std::string_view limit_of(cli::Support support);

} // namespace shim::manual
