#pragma once
// A request under way to a placement, shared by the parts of place(): which hosts (hosts.cpp), how
// many ranks on each and in which order (deal.cpp), numbers and devices (place.cpp). Private.

#include "slurm_shim/base/strings.h"
#include "slurm_shim/plan/plan.h"

#include <algorithm>

namespace shim::plan {

inline constexpr std::string_view k_too_many = "More processors requested than permitted";
inline constexpr std::string_view k_busy = "Requested nodes are busy";
inline constexpr std::string_view k_no_such_hosts = "Requested node configuration is not available";

[[nodiscard]] inline tl::unexpected<Error> refused(std::string_view text) {
  return fail(ErrorKind::refused, std::string(text));
}

[[nodiscard]] inline bool names_host(const AllocationNode& node, std::string_view name) {
  return equals_ignore_case(node.host, name) || equals_ignore_case(node.fqdn, name);
}

// Hosts are indices into the allocation, ascending.
struct Draft {
  const Allocation& allocation;
  std::vector<std::string>& warnings;
  StepRequest request; // the values that are honoured in the end
  int cpus_per_task = 1;
  std::vector<int> hosts{};
  std::vector<int> counts{}; // ranks, parallel to hosts
  std::vector<int> order{};  // the host of each rank

  [[nodiscard]] const AllocationNode& node(int index) const {
    return allocation.nodes[static_cast<std::size_t>(index)];
  }
  // Slots that no running step holds, and how many tasks they are good for.
  [[nodiscard]] int room(int index) const {
    return std::max(0, node(index).slots - node(index).busy);
  }
  [[nodiscard]] int fits(int index) const { return room(index) / cpus_per_task; }
  [[nodiscard]] bool is_excluded(int index) const {
    return std::any_of(request.exclude.begin(), request.exclude.end(), [&](const auto& name) {
      return names_host(node(index), name);
    });
  }
};

// -N against -n, -r and --ntasks-per-node, with the warnings of Slurm's srun.
[[nodiscard]] Result<void> reconcile(Draft& draft);
// The hosts that the step may use.
[[nodiscard]] Result<void> choose_hosts(Draft& draft);
// Counts and order. Hosts without a rank go.
[[nodiscard]] Result<void> deal_ranks(Draft& draft);
// -m arbitrary: hosts, counts and order as the list has them.
[[nodiscard]] Result<void> deal_as_listed(Draft& draft);

} // namespace shim::plan
