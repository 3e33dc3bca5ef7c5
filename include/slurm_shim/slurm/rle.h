#pragma once
// Slurm's run-length form of per-node counts: 8(x3),4. Pure. Spec placement 5.

#include "slurm_shim/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace shim::slurm {
[[nodiscard]] std::string compress_counts(const std::vector<int>& counts);
[[nodiscard]] Result<std::vector<int>> expand_counts(std::string_view text);
} // namespace shim::slurm
