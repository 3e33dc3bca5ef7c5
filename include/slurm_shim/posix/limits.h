#pragma once
// Soft resource limits as they travel with a step: a user's `ulimit` in the script is to hold for
// the ranks of other hosts, too, as far as the limits there allow. Only those that the engine does
// not set per slot (not CPU, AS, DATA, RSS): what it set is not to be undone. Spec stepper 3.

#include "slurm_shim/posix/spawn.h"

#include <string>
#include <string_view>
#include <vector>

namespace shim::posix {

// "CORE=0", "STACK=unlimited", ... of this process; `names`: "" or "ALL" = all that travel, "NONE",
// or a list of names, with or without RLIMIT_.
[[nodiscard]] std::vector<std::string> soft_limits(std::string_view names);

// Sets them in this process, at most to its hard limits. NOFILE goes to `open_files`, which is what
// ranks get. What does not parse or is not allowed is left as it is.
void apply_soft_limits(const std::vector<std::string>& limits, OpenFileLimit& open_files);

} // namespace shim::posix
