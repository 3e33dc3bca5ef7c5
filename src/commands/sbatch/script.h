#pragma once
// The batch script itself: where it comes from (file, PATH, stdin, --wrap) and the checks that
// Slurm makes before it accepts one. Refuses to know about options. Spec sbatch-translate 2,
// vectors 04 `src.*`, `wrap.*`, `dir.*`.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/base/result.h"
#include "slurm_shim/submit/script.h"

#include <string>
#include <string_view>

namespace shim::commands::sbatch {

inline constexpr std::size_t k_max_script_bytes = std::size_t{4} << 20; // Slurm's default limit

using submit::Script;

// `word`: the first positional word ("" = read stdin). Messages are complete Slurm lines.
[[nodiscard]] Result<Script>
load_script(const std::string& word, const EnvList& env, const std::string& directory);
// The script that --wrap makes of a command.
[[nodiscard]] Script wrap_script(std::string_view command);

// Empty, blank, no "#!", DOS line ends, NUL, too long: Slurm's messages, exit 1.
[[nodiscard]] Result<void> check_script(std::string_view text);

} // namespace shim::commands::sbatch
