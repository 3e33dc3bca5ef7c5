#include "slurm_shim/base/strings.h"
#include "slurm_shim/plan/plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace shim::plan {
namespace {

constexpr std::string_view k_too_many = "More processors requested than permitted";

tl::unexpected<Error> refused(std::string_view text) {
  return fail(ErrorKind::refused, std::string(text));
}

bool names_host(const AllocationNode& node, std::string_view name) {
  return equals_ignore_case(node.host, name) || equals_ignore_case(node.fqdn, name);
}

bool listed(const std::vector<std::string>& names, const AllocationNode& node) {
  return std::any_of(
      names.begin(), names.end(), [&](const std::string& name) { return names_host(node, name); });
}

// A request under way to a placement: hosts are indices into the allocation, ascending.
struct Draft {
  const Allocation& allocation;
  StepRequest request; // the values that are honoured in the end
  std::vector<int> hosts;
  std::vector<int> counts; // tasks, parallel to hosts
  int cpus_per_task = 1;
  std::vector<std::string> warnings;

  [[nodiscard]] const AllocationNode& node(int index) const {
    return allocation.nodes[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] int fits(int index, int cpus) const { return node(index).slots / cpus; }
};

int sum(const std::vector<int>& values) {
  return std::accumulate(values.begin(), values.end(), 0);
}

Result<void> check_counts(const StepRequest& request) {
  struct Row {
    int value;
    const char* option;
  };
  const Row rows[] = {{request.ntasks, "ntasks"},
                      {request.ntasks_per_node, "ntasks-per-node"},
                      {request.cpus_per_task, "cpus-per-task"},
                      {request.gpus_per_task, "gpus-per-task"},
                      {request.nodes_min, "nodes"},
                      {request.nodes_max, "nodes"}};
  for (const auto& row : rows)
    if (row.value < 0)
      return fail(ErrorKind::usage,
                  fmt::format("Invalid numeric value \"{}\" for --{}.", row.value, row.option));
  return {};
}

// -N against -n and --ntasks-per-node, with the warnings of Slurm's srun.
Result<void> reconcile(Draft& draft) {
  auto& request = draft.request;
  const auto available = static_cast<int>(draft.allocation.nodes.size());
  if (request.nodes_min > available)
    return fail(ErrorKind::usage,
                fmt::format("Only allocated {} nodes asked for {}", available, request.nodes_min));
  if (request.nodes_min == 0 || request.ntasks == 0) return {};
  if (request.ntasks < request.nodes_min) {
    draft.warnings.push_back(
        fmt::format("Warning: can't run {} processes on {} nodes, setting nnodes to {}",
                    request.ntasks,
                    request.nodes_min,
                    request.ntasks));
    request.nodes_min = request.nodes_max = request.ntasks;
  }
  if (request.ntasks_per_node > 0 &&
      request.ntasks != request.nodes_min * request.ntasks_per_node) {
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

// Hosts named with -w, or all, without those of -x; allocation order.
Result<void> choose_candidates(Draft& draft, std::vector<int>& others) {
  const auto& request = draft.request;
  const auto& nodes = draft.allocation.nodes;
  for (const auto& name : request.nodelist)
    if (std::none_of(
            nodes.begin(), nodes.end(), [&](const auto& node) { return names_host(node, name); }))
      return refused("Requested node configuration is not available");
  for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
    if (listed(request.exclude, draft.node(i))) continue;
    const bool wanted = request.nodelist.empty() || listed(request.nodelist, draft.node(i));
    (wanted ? draft.hosts : others).push_back(i);
  }
  return {};
}

// As many hosts as -N asks for: those of -w first, then further ones in allocation order; of a
// range no more than -n needs.
Result<void> choose_hosts(Draft& draft) {
  std::vector<int> others;
  TRY(choose_candidates(draft, others));
  const auto& request = draft.request;
  if (request.nodes_min > 0) {
    const int most = std::max(request.nodes_min, request.nodes_max);
    if (!request.nodelist.empty() && static_cast<int>(draft.hosts.size()) > most)
      draft.warnings.push_back(fmt::format(
          "error: Required nodelist includes more nodes than permitted by max-node count ({} > "
          "{}). Eliminating nodes from the nodelist.",
          draft.hosts.size(),
          most));
    std::vector<int> ordered = draft.hosts;
    ordered.insert(ordered.end(), others.begin(), others.end());
    if (static_cast<int>(ordered.size()) < request.nodes_min)
      return refused("Requested node configuration is not available");
    int chosen = request.nodelist.empty()
                     ? request.nodes_min
                     : std::clamp(static_cast<int>(draft.hosts.size()), request.nodes_min, most);
    const int limit = std::min(most, static_cast<int>(ordered.size()));
    const auto capacity = [&] {
      int total = 0;
      for (int i = 0; i < chosen; ++i)
        total += draft.fits(ordered[static_cast<std::size_t>(i)], draft.cpus_per_task);
      return total;
    };
    while (chosen < limit && capacity() < request.ntasks)
      ++chosen;
    ordered.resize(static_cast<std::size_t>(chosen));
    std::sort(ordered.begin(), ordered.end());
    draft.hosts = std::move(ordered);
  }
  if (draft.hosts.empty()) return refused("Requested node configuration is not available");
  return {};
}

// How many tasks a host may take; without a number of tasks this is also what it gets.
int capacity_of(const Draft& draft, int host) {
  const auto& request = draft.request;
  const int fits = draft.fits(host, draft.cpus_per_task);
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

// -n tasks over the hosts: with -N one each first, then blocks; what -O asks beyond the capacity
// goes round.
std::vector<int> fill(const Draft& draft, std::vector<int> room) {
  std::vector<int> counts(room.size(), 0);
  int left = draft.request.ntasks;
  const auto take = [&](std::size_t i, int tasks) {
    counts[i] += tasks;
    room[i] -= tasks;
    left -= tasks;
  };
  if (draft.request.nodes_min > 0)
    for (std::size_t i = 0; i < room.size() && left > 0; ++i)
      take(i, 1);
  for (std::size_t i = 0; i < room.size() && left > 0; ++i)
    take(i, std::clamp(room[i], 0, left));
  for (std::size_t i = 0; left > 0; i = (i + 1) % room.size())
    take(i, 1);
  return counts;
}

Result<void> distribute(Draft& draft) {
  auto& request = draft.request;
  if (request.nodes_min > 0 && request.ntasks == 0)
    request.ntasks = static_cast<int>(draft.hosts.size()) * std::max(1, request.ntasks_per_node);
  auto room = capacities(draft);
  if (request.ntasks > 0 && request.cpus_per_task == 0 && sum(room) < request.ntasks) {
    // The job's -c is only a default of its steps: a step that asks for more tasks gives it up.
    draft.cpus_per_task = 1;
    room = capacities(draft);
  }
  const bool one_each =
      request.nodes_min == 0 ||
      std::all_of(room.begin(), room.end(), [](int capacity) { return capacity > 0; });
  if (request.ntasks > 0) {
    if (!request.overcommit && (sum(room) < request.ntasks || !one_each))
      return refused(k_too_many);
    draft.counts = fill(draft, std::move(room));
  } else {
    draft.counts = std::move(room);
  }
  return {};
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

Result<DeviceSlices> slices_of(Draft& draft, int host, int tasks) {
  const auto& node = draft.node(host);
  const auto& request = draft.request;
  const auto available = static_cast<long long>(node.gpus.size());
  if (static_cast<long long>(request.gpus_per_task) * tasks > available)
    return fail(ErrorKind::usage,
                fmt::format("--gpus-per-task={} exceeds the {} GPUs granted on {}",
                            request.gpus_per_task,
                            available,
                            node.host));
  auto slices = assign_devices(node.gpus, tasks, request.gpus_per_task, request.divide_gpus);
  const auto has_warning = [](const std::string& line) { return line.starts_with("warning: "); };
  if (slices.shared && std::none_of(draft.warnings.begin(), draft.warnings.end(), has_warning))
    draft.warnings.push_back(
        fmt::format("warning: {} GPUs but {} tasks on {}; all ranks share the node's GPUs",
                    available,
                    tasks,
                    node.host));
  return slices;
}

Result<Placement> number_ranks(Draft& draft) {
  Placement out;
  out.cpus_per_task = draft.cpus_per_task;
  int rank = 0;
  for (std::size_t i = 0; i < draft.hosts.size(); ++i) {
    const auto& node = draft.node(draft.hosts[i]);
    const int tasks = draft.counts[i];
    TRY_ASSIGN(const auto slices, slices_of(draft, draft.hosts[i], tasks));
    out.nodes.push_back({draft.hosts[i], node.host, node.slots, tasks});
    for (int local = 0; local < tasks; ++local) {
      const int first = local * draft.cpus_per_task;
      out.ranks.push_back({slurm::RankId{rank++},
                           slurm::LocalId{local},
                           slurm::NodeIndex{static_cast<int>(i)},
                           fmt::format("{}-{}", first, first + draft.cpus_per_task - 1),
                           slices.per_rank[static_cast<std::size_t>(local)]});
    }
  }
  out.warnings = std::move(draft.warnings);
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

} // namespace

Result<Placement> place(const Allocation& allocation, const StepRequest& request) {
  TRY(check_counts(request));
  Draft draft{allocation, request, {}, {}, 1, {}};
  draft.cpus_per_task =
      request.cpus_per_task > 0 ? request.cpus_per_task : std::max(1, allocation.cpus_per_task);
  TRY(reconcile(draft));
  TRY(choose_hosts(draft));
  TRY(distribute(draft));
  drop_empty_hosts(draft);
  if (draft.hosts.empty()) return refused(k_too_many);
  warn_of_short_cpus(draft);
  return number_ranks(draft);
}

} // namespace shim::plan
