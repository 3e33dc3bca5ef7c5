#include "draft.h"

#include <fmt/core.h>

namespace shim::plan {
namespace {

Result<void> check_counts(const StepRequest& request) {
  struct Row {
    int value;
    const char* option;
  };
  const Row rows[] = {{request.ntasks, "ntasks"},
                      {request.ntasks_per_node, "ntasks-per-node"},
                      {request.cpus_per_task, "cpus-per-task"},
                      {request.nodes_min, "nodes"},
                      {request.nodes_max, "nodes"}};
  for (const auto& row : rows)
    if (row.value < 0)
      return fail(ErrorKind::usage,
                  fmt::format("Invalid numeric value \"{}\" for --{}.", row.value, row.option));
  return {};
}

Result<std::vector<Devices>> devices_of(const Draft& draft) {
  std::vector<DeviceHost> hosts;
  for (std::size_t i = 0; i < draft.hosts.size(); ++i) {
    const auto& node = draft.node(draft.hosts[i]);
    hosts.push_back({node.host, &node.gpus, &node.gpus_held, draft.counts[i]});
  }
  const auto& nodes = draft.allocation.nodes;
  const bool any =
      std::any_of(nodes.begin(), nodes.end(), [](const auto& node) { return !node.gpus.empty(); });
  return choose_devices(draft.request.devices, hosts, any, draft.request.overlap);
}

Result<DeviceSlices> slices_of(Draft& draft, const PlacedNode& node) {
  TRY_ASSIGN(auto slices, bind_devices(draft.request.devices, node.host, node.gpus, node.ntasks));
  const auto has_warning = [](const std::string& line) { return line.starts_with("warning: "); };
  if (slices.shared && std::none_of(draft.warnings.begin(), draft.warnings.end(), has_warning))
    draft.warnings.push_back(
        fmt::format("warning: {} GPUs but {} tasks on {}; all ranks share the node's GPUs",
                    node.gpus.size(),
                    node.ntasks,
                    node.host));
  return slices;
}

Result<Placement> number_ranks(Draft& draft) {
  Placement out;
  out.cpus_per_task = draft.cpus_per_task;
  TRY_ASSIGN(auto devices, devices_of(draft));
  std::vector<DeviceSlices> slices;
  std::vector<int> position(draft.allocation.nodes.size(), 0); // in the step
  for (std::size_t i = 0; i < draft.hosts.size(); ++i) {
    const auto& node = draft.node(draft.hosts[i]);
    position[static_cast<std::size_t>(draft.hosts[i])] = static_cast<int>(i);
    out.nodes.push_back(
        {draft.hosts[i], node.host, node.slots, draft.counts[i], std::move(devices[i])});
    TRY_ASSIGN(slices.emplace_back(), slices_of(draft, out.nodes.back()));
  }
  std::vector<int> taken(draft.hosts.size(), 0);
  for (const int host : draft.order) {
    const int at = position[static_cast<std::size_t>(host)];
    const int local = taken[static_cast<std::size_t>(at)]++;
    const int first = local * draft.cpus_per_task;
    out.ranks.push_back(
        {slurm::RankId{static_cast<int>(out.ranks.size())},
         slurm::LocalId{local},
         slurm::NodeIndex{at},
         fmt::format("{}-{}", first, first + draft.cpus_per_task - 1),
         slices[static_cast<std::size_t>(at)].per_rank[static_cast<std::size_t>(local)]});
  }
  return out;
}

void warn_of_short_cpus(Draft& draft) {
  for (std::size_t i = 0; i < draft.hosts.size(); ++i) {
    const auto& node = draft.node(draft.hosts[i]);
    if (draft.cpus_per_task == 1 || draft.counts[i] * draft.cpus_per_task <= node.slots) continue;
    draft.warnings.push_back(fmt::format("Warning: {} tasks of {} CPUs share the {} slots of {}",
                                         draft.counts[i],
                                         draft.cpus_per_task,
                                         node.slots,
                                         node.host));
    return; // one line a step
  }
}

// On a host that is shared with running steps only the slots that are left count.
bool is_crowded(const Draft& draft) {
  for (std::size_t i = 0; i < draft.hosts.size(); ++i) {
    const int host = draft.hosts[i];
    if (draft.node(host).busy > 0 && draft.counts[i] * draft.cpus_per_task > draft.room(host))
      return true;
  }
  return false;
}

} // namespace

Result<Placement> place(const Allocation& allocation,
                        const StepRequest& request,
                        std::vector<std::string>& warnings) {
  TRY(check_counts(request));
  Draft draft{allocation, warnings, request};
  draft.cpus_per_task =
      request.cpus_per_task > 0 ? request.cpus_per_task : std::max(1, allocation.cpus_per_task);
  if (request.distribution.nodes == slurm::Distribution::Nodes::arbitrary &&
      !request.rank_hosts.empty()) {
    TRY(deal_as_listed(draft));
  } else {
    TRY(reconcile(draft));
    TRY(choose_hosts(draft));
    TRY(deal_ranks(draft));
  }
  if (is_crowded(draft)) return refused(k_too_many);
  warn_of_short_cpus(draft);
  return number_ranks(draft);
}

Result<std::optional<Placement>> place_beside(const Allocation& allocation,
                                              const StepRequest& request,
                                              std::vector<std::string>& warnings) {
  if (auto placed = place(allocation, request, warnings)) return std::optional(std::move(*placed));
  warnings.clear();
  auto alone = allocation;
  for (auto& node : alone.nodes) {
    node.busy = 0;
    node.gpus_held.clear();
  }
  TRY(place(alone, request, warnings));
  return std::optional<Placement>();
}

} // namespace shim::plan
