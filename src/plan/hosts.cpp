#include "draft.h"

#include <fmt/core.h>

namespace shim::plan {
namespace {

using Hosts = std::vector<int>;

// Hosts named with -w, or all; `others`: further ones that -N may add. Without those of -x, those
// before -r and those whose slots are all held. Allocation order.
Result<void> choose_candidates(Draft& draft, Hosts& others) {
  const auto& request = draft.request;
  const auto& nodes = draft.allocation.nodes;
  for (const auto& name : request.nodelist)
    if (std::none_of(
            nodes.begin(), nodes.end(), [&](const auto& node) { return names_host(node, name); }))
      return refused(k_no_such_hosts);
  for (int i = request.relative.value_or(0); i < static_cast<int>(nodes.size()); ++i) {
    if (draft.is_excluded(i)) continue;
    const bool named =
        std::any_of(request.nodelist.begin(), request.nodelist.end(), [&](const auto& name) {
          return names_host(draft.node(i), name);
        });
    if (named)
      draft.hosts.push_back(i);
    else if (draft.node(i).busy == 0 || draft.room(i) > 0)
      (request.nodelist.empty() ? draft.hosts : others).push_back(i);
  }
  return {};
}

// Tasks that the hosts must take: -n, else the least that -N means.
bool can_take(const Draft& draft, const Hosts& hosts) {
  const auto& request = draft.request;
  if (request.overcommit) return true;
  int total = 0;
  for (const int host : hosts) {
    if (draft.fits(host) == 0) return false;
    total += draft.fits(host);
  }
  return total >= request.ntasks;
}

// The first hosts of `ordered`: as many as -N says at least, and of its range as many as there are
// tasks for. The first `required` are taken in any case, up to -N's maximum.
Hosts take_hosts(const Draft& draft, Hosts ordered, std::size_t required) {
  const auto& request = draft.request;
  const int most = std::max(request.nodes_min, request.nodes_max);
  const int limit = std::min(most, static_cast<int>(ordered.size()));
  int chosen = std::clamp(static_cast<int>(required), request.nodes_min, most);
  while (chosen < limit && chosen < request.ntasks &&
         draft.fits(ordered[static_cast<std::size_t>(chosen)]) > 0)
    ++chosen;
  ordered.resize(static_cast<std::size_t>(chosen));
  std::sort(ordered.begin(), ordered.end());
  return ordered;
}

void clamp_to_relative(StepRequest& request, int available) {
  if (!request.relative || !request.nodes_implied) return;
  const int left = std::max(1, available - *request.relative);
  request.nodes_min = std::min(request.nodes_min, left);
  request.nodes_max = std::min(request.nodes_max, left);
}

} // namespace

Result<void> reconcile(Draft& draft) {
  auto& request = draft.request;
  const auto available = static_cast<int>(draft.allocation.nodes.size());
  if (request.nodes_min > available)
    return fail(ErrorKind::usage,
                fmt::format("Only allocated {} nodes asked for {}", available, request.nodes_min));
  if (request.nodes_min > 0 && request.ntasks > 0 && request.ntasks < request.nodes_min) {
    draft.warnings.push_back(
        fmt::format("Warning: can't run {} processes on {} nodes, setting nnodes to {}",
                    request.ntasks,
                    request.nodes_min,
                    request.ntasks));
    request.nodes_min = request.nodes_max = request.ntasks;
  }
  clamp_to_relative(request, available);
  if (const int nodes = std::max(1, request.nodes_min);
      request.relative && *request.relative + nodes > available)
    return fail(ErrorKind::usage,
                fmt::format("--relative and --nodes option incompatible with count of allocated "
                            "nodes ({}+{}>{})",
                            *request.relative,
                            nodes,
                            available));
  if (request.nodes_min == 0 || request.ntasks == 0 || request.ntasks_per_node == 0) return {};
  if (request.ntasks < request.ntasks_per_node) {
    request.ntasks_per_node = 0; // says nothing, and Slurm says nothing about it
  } else if (request.ntasks != request.nodes_min * request.ntasks_per_node) {
    draft.warnings.push_back(
        fmt::format("Warning: can't honor --ntasks-per-node set to {} which doesn't match the "
                    "requested tasks {} with the number of requested nodes {}. Ignoring "
                    "--ntasks-per-node.",
                    request.ntasks_per_node,
                    request.ntasks,
                    request.nodes_min));
    request.ntasks_per_node = 0;
  }
  return {};
}

Result<void> choose_hosts(Draft& draft) {
  Hosts others;
  TRY(choose_candidates(draft, others));
  auto& request = draft.request;
  const auto candidates = static_cast<int>(draft.hosts.size() + others.size());
  if (candidates == 0) return refused(k_no_such_hosts);
  if (request.nodes_implied && !request.exclude.empty()) {
    request.nodes_min = std::min(request.nodes_min, candidates);
    request.nodes_max = std::max(request.nodes_max, request.nodes_min);
  }
  if (request.nodes_min == 0) {
    if (draft.hosts.empty()) return refused(k_no_such_hosts);
    return {};
  }
  if (candidates < request.nodes_min) return refused(k_no_such_hosts);
  const auto required = request.nodelist.empty() ? 0 : draft.hosts.size();
  const int most = std::max(request.nodes_min, request.nodes_max);
  if (static_cast<int>(required) > most)
    draft.warnings.push_back(fmt::format(
        "error: Required nodelist includes more nodes than permitted by max-node count ({} > {}). "
        "Eliminating nodes from the nodelist.",
        required,
        most));
  Hosts ordered = draft.hosts;
  ordered.insert(ordered.end(), others.begin(), others.end());
  draft.hosts = take_hosts(draft, ordered, required);
  if (can_take(draft, draft.hosts)) return {};
  std::stable_sort(ordered.begin() + static_cast<std::ptrdiff_t>(required),
                   ordered.end(),
                   [&](int a, int b) { return draft.room(a) > draft.room(b); });
  if (auto roomy = take_hosts(draft, ordered, required); can_take(draft, roomy))
    draft.hosts = std::move(roomy);
  return {};
}

} // namespace shim::plan
