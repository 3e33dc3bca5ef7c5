#pragma once
// Output patterns in the engine's own spelling, for the configurations in which the engine and not
// batch-exec opens the files. Pure. Spec sbatch-translate 8.

#include <string>
#include <string_view>
#include <vector>

namespace shim::submit {

struct EnginePath {
  std::string path;                  // for -o and -e: ":/dir/slurm-$JOB_ID.out"
  std::vector<std::string> warnings; // verbs that the engine does not know
};
[[nodiscard]] EnginePath engine_path(std::string_view pattern, const std::string& directory);

} // namespace shim::submit
