#pragma once
// Addresses and networks as firewalls want them: the fewest that cover just what was given. Pure.
// Spec install-doctor-ports 3.

#include "slurm_shim/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace shim::commands::admin {

// Networks in CIDR form, ascending; a single address has no "/32" or "/128".
struct Sources {
  std::vector<std::string> ipv4, ipv6;
};

// "10.1.0.5", "10.1.0.0/16", "fd00::/8".
[[nodiscard]] bool is_address_or_network(std::string_view text);

// Neighbours become one network where together they fill it; what lies in another is left out.
// With more than eight networks of a family left, its entries are given as they are, without
// duplicates. Error: usage, naming the entry that is neither an address nor a network.
[[nodiscard]] Result<Sources> aggregate(const std::vector<std::string>& entries);

} // namespace shim::commands::admin
