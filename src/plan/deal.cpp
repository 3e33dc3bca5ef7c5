#include "draft.h"

#include <fmt/core.h>

#include <numeric>

namespace shim::plan {
namespace {

using Nodes = slurm::Distribution::Nodes;

int sum(const std::vector<int>& values) {
  return std::accumulate(values.begin(), values.end(), 0);
}

// How many tasks a host may take; without a number of tasks this is also what it gets.
int capacity_of(const Draft& draft, int host) {
  const auto& request = draft.request;
  const int fits = draft.fits(host);
  if (request.ntasks_per_node > 0) {
    const bool bounded = request.nodes_min > 0 && !request.overcommit;
    return bounded ? std::min(request.ntasks_per_node, fits) : request.ntasks_per_node;
  }
  if (request.ntasks > 0) return fits;
  const auto& counts = draft.allocation.tasks_per_node;
  const auto position = static_cast<std::size_t>(host);
  return position < counts.size() ? counts[position] : draft.node(host).slots;
}

std::vector<int> capacities(const Draft& draft) {
  std::vector<int> out;
  for (const int host : draft.hosts)
    out.push_back(capacity_of(draft, host));
  return out;
}

// The job's -c is only a default of its steps: a step that asks for more tasks than it leaves room
// for, even with nobody else running, gives it up.
void give_up_default_cpus(Draft& draft) {
  const auto& request = draft.request;
  if (request.ntasks == 0 || request.cpus_per_task > 0 || draft.cpus_per_task == 1) return;
  int total = 0;
  for (const int host : draft.hosts) {
    const int fits = draft.node(host).slots / draft.cpus_per_task;
    total += request.ntasks_per_node > 0 ? request.ntasks_per_node : fits;
  }
  if (total < request.ntasks) draft.cpus_per_task = 1;
}

// Blocks: with -N one task each first, then hosts are filled in order; what -O asks beyond the
// capacity goes round.
std::vector<int> fill(const Draft& draft, std::vector<int> room) {
  std::vector<int> counts(room.size(), 0);
  int left = draft.request.ntasks;
  const auto take = [&](std::size_t i, int tasks) {
    counts[i] += tasks;
    room[i] -= tasks;
    left -= tasks;
  };
  const bool packed = draft.request.distribution.packing == slurm::Distribution::Pack::pack;
  if (draft.request.nodes_min > 0 && !packed)
    for (std::size_t i = 0; i < room.size() && left > 0; ++i)
      take(i, 1);
  for (std::size_t i = 0; i < room.size() && left > 0; ++i)
    take(i, std::clamp(room[i], 0, left));
  std::size_t next = 0;
  while (left > 0)
    take(next++ % room.size(), 1);
  return counts;
}

// Round after round, up to `size` ranks for each host that still has room; -O goes on when nobody
// has.
void deal_in_turn(Draft& draft, std::vector<int> room, int ntasks, int size) {
  draft.counts.assign(room.size(), 0);
  int left = ntasks;
  bool is_full = sum(room) <= 0;
  while (left > 0) {
    for (std::size_t i = 0; i < room.size() && left > 0; ++i) {
      const int tasks = std::clamp(is_full ? size : std::min(size, room[i]), 0, left);
      draft.order.insert(draft.order.end(), static_cast<std::size_t>(tasks), draft.hosts[i]);
      draft.counts[i] += tasks;
      room[i] -= tasks;
      left -= tasks;
    }
    is_full = std::all_of(room.begin(), room.end(), [](int places) { return places <= 0; });
  }
}

void drop_empty_hosts(Draft& draft) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < draft.hosts.size(); ++i) {
    if (draft.counts[i] == 0) continue;
    draft.hosts[kept] = draft.hosts[i];
    draft.counts[kept++] = draft.counts[i];
  }
  draft.hosts.resize(kept);
  draft.counts.resize(kept);
}

} // namespace

Result<void> deal_ranks(Draft& draft) {
  auto& request = draft.request;
  if (request.nodes_min > 0 && request.ntasks == 0)
    request.ntasks = static_cast<int>(draft.hosts.size()) * std::max(1, request.ntasks_per_node);
  give_up_default_cpus(draft);
  auto room = capacities(draft);
  const bool one_each =
      request.nodes_min == 0 ||
      std::all_of(room.begin(), room.end(), [](int capacity) { return capacity > 0; });
  if (request.ntasks > 0 && !request.overcommit && (sum(room) < request.ntasks || !one_each))
    return refused(k_too_many);
  const int ntasks = request.ntasks > 0 ? request.ntasks : sum(room);
  if (request.distribution.nodes == Nodes::cyclic) {
    deal_in_turn(draft, std::move(room), ntasks, 1);
  } else if (request.distribution.nodes == Nodes::plane) {
    deal_in_turn(draft, std::move(room), ntasks, request.distribution.plane_size);
  } else {
    draft.counts = request.ntasks > 0 ? fill(draft, std::move(room)) : std::move(room);
    for (std::size_t i = 0; i < draft.hosts.size(); ++i)
      draft.order.insert(
          draft.order.end(), static_cast<std::size_t>(draft.counts[i]), draft.hosts[i]);
  }
  drop_empty_hosts(draft);
  if (draft.hosts.empty()) return refused(k_too_many);
  return {};
}

Result<void> deal_as_listed(Draft& draft) {
  auto& request = draft.request;
  const auto listed = static_cast<int>(request.rank_hosts.size());
  if (request.ntasks == 0) request.ntasks = listed;
  if (request.ntasks > listed)
    return fail(ErrorKind::usage,
                fmt::format("--distribution=arbitrary: {} tasks, but the list of hosts has {}",
                            request.ntasks,
                            listed));
  std::vector<int> counts(draft.allocation.nodes.size(), 0);
  int slots = 0;
  for (const auto& node : draft.allocation.nodes)
    slots += node.slots;
  for (int rank = 0; rank < request.ntasks; ++rank) {
    const auto& name = request.rank_hosts[static_cast<std::size_t>(rank)];
    int host = 0;
    while (host < static_cast<int>(counts.size()) && !names_host(draft.node(host), name))
      ++host;
    if (host == static_cast<int>(counts.size()) || draft.is_excluded(host))
      return refused(k_no_such_hosts);
    draft.order.push_back(host);
    ++counts[static_cast<std::size_t>(host)];
  }
  if (request.ntasks * draft.cpus_per_task > slots && !request.overcommit)
    return refused(k_too_many);
  for (int host = 0; host < static_cast<int>(counts.size()); ++host) {
    if (counts[static_cast<std::size_t>(host)] == 0) continue;
    draft.hosts.push_back(host);
    draft.counts.push_back(counts[static_cast<std::size_t>(host)]);
  }
  return {};
}

} // namespace shim::plan
