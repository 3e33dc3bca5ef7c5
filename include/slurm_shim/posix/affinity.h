#pragma once
// CPU lists ("0-3,8") and the affinity calls. The list grammar is the rank-exec option's: comma
// separated n or a-b with a <= b, blanks around items and empty items tolerated. Spec stepper 2.

#include "slurm_shim/base/result.h"

#include <string_view>
#include <vector>

namespace shim::posix {

// CPU numbers in the order of the list; empty for an empty list. malformed: `invalid cpu "a"`,
// `invalid cpu range "3-1"`.
[[nodiscard]] Result<std::vector<int>> parse_cpu_list(std::string_view text);
// What this process may run on, ascending.
[[nodiscard]] std::vector<int> allowed_cpus();
// 0 or errno (EINVAL also for a CPU number beyond the largest mask).
[[nodiscard]] int set_affinity(const std::vector<int>& cpus);

} // namespace shim::posix
