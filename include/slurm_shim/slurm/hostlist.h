#pragma once
// Slurm's host lists: node[001-003,007], several bracket groups, both directions. Two dialects: the
// strict one of the shim's own variables and options, and the forgiving one that `scontrol show
// hostnames|hostlist|hostlistsorted` and scancel have. Pure. Spec placement 4; vectors/02.

#include "slurm_shim/base/result.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shim::slurm {

inline constexpr std::size_t k_max_hosts = 65536;

// Keeps order and duplicates. The last group varies fastest, then the first, the second, ...
// (Slurm's order). At most k_max_hosts names. Error:
// ErrorKind::malformed, "invalid hostlist: <reason>".
[[nodiscard]] Result<std::vector<std::string>> expand_hostlist(std::string_view text);
// Keeps order, never sorts; a single host is never bracketed. Neighbours merge into a range only
// when they have equally many digits: n[8-9,10].
[[nodiscard]] std::string compress_hostlist(const std::vector<std::string>& hosts);
// Natural order: prefix, suffix, value, width, name.
void sort_hosts(std::vector<std::string>& hosts);

// Slurm's own dialect (vectors/02). Commas, blanks and tabs outside brackets separate; empty parts
// are skipped; nothing may follow the last bracket. Error (usage, exit 1): the message is Slurm's
// first line "_parse_single_range: Invalid range: `a-c'" (or "Too many hosts in range"), which goes
// out with the command's prefix, or "" when Slurm prints none; the caller adds its own second line
// ("Invalid hostlist: <text>", "Invalid job id <text>").
[[nodiscard]] Result<std::vector<std::string>> slurm_expand_hostlist(std::string_view text);
// What `show hostlist` prints: order kept, digits at the end of a name count, n8,n9,n10 -> n[8-10].
// Errors as above.
[[nodiscard]] Result<std::string> slurm_compress_hostlist(std::string_view text);
// What `show hostlistsorted` prints: sorted, neighbours joined, duplicates kept.
[[nodiscard]] Result<std::string> slurm_sorted_hostlist(std::string_view text);

} // namespace shim::slurm
