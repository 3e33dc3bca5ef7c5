#pragma once
// A host name with bracket groups, parsed, and its expansion; shared by the two dialects of
// hostlist.h. Bounds are checked before anything is allocated.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace shim::slurm {

// `low` as written, and `extra` further numbers above `first`. A single item is printed as written.
struct BracketItem {
  std::string low;
  std::uint64_t first = 0;
  std::uint64_t extra = 0;
};

struct BracketedName {
  std::vector<std::string> literals;            // before, between and after the groups
  std::vector<std::vector<BracketItem>> groups; // one less than literals
};

// `value` with zeros in front up to `width` digits.
[[nodiscard]] std::string zero_padded(std::uint64_t value, std::size_t width);

// The numbers of one group, as they are printed.
[[nodiscard]] std::vector<std::string> values_of(const std::vector<BracketItem>& group);

// Appends all names; the last group varies fastest, then the first, the second, ... False, and
// nothing appended, when `hosts` would grow beyond `limit`.
[[nodiscard]] bool
append_names(const BracketedName& name, std::size_t limit, std::vector<std::string>& hosts);

} // namespace shim::slurm
