#pragma once
// The batch script itself: where it comes from (file, PATH, stdin, --wrap) and the checks that
// Slurm makes before it accepts one. Refuses to know about options. Spec sbatch-translate 2,
// vectors 04 `src.*`, `wrap.*`, `dir.*`.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/base/result.h"

#include <string>
#include <string_view>

namespace shim::commands::sbatch {

inline constexpr std::size_t k_max_script_bytes = std::size_t{4} << 20; // Slurm's default limit

struct Script {
  std::string name;    // as the user wrote it; "" for stdin and --wrap
  std::string path;    // absolute path of a regular file; "" = the text must be spooled
  std::string command; // what scontrol shows as Command; "" = none
  std::string text;
  bool wrapped = false;
};

// `word`: the first positional word ("" = read stdin). Messages are complete Slurm lines.
[[nodiscard]] Result<Script>
load_script(const std::string& word, const EnvList& env, const std::string& directory);
// The script that --wrap makes of a command.
[[nodiscard]] Script wrap_script(std::string_view command);

// Empty, blank, no "#!", DOS line ends, NUL, too long: Slurm's messages, exit 1.
[[nodiscard]] Result<void> check_script(std::string_view text);

// The interpreter for `qsub -S`, which a queue in posix_compliant mode starts instead of looking at
// the first line: the interpreter itself when it stands alone, else env(1), which executes the
// script and so leaves the line to the kernel.
[[nodiscard]] std::string shell_for_queue(std::string_view text);

} // namespace shim::commands::sbatch
