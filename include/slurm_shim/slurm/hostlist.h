#pragma once
// Slurm's host lists: node[001-003,007], several bracket groups, both directions. Pure.
// Spec placement 4 (and vectors/02 for scontrol's dialect).

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "slurm_shim/base/result.h"

namespace shim::slurm {

inline constexpr std::size_t k_max_hosts = 65536;

// Keeps order and duplicates. Error: ErrorKind::malformed, "invalid hostlist: <reason>".
[[nodiscard]] Result<std::vector<std::string>> expand_hostlist(std::string_view text);
// Keeps order, never sorts; a single host is never bracketed.
[[nodiscard]] std::string compress_hostlist(const std::vector<std::string>& hosts);
// Natural order: prefix, suffix, value, width, name.
void sort_hosts(std::vector<std::string>& hosts);

} // namespace shim::slurm
