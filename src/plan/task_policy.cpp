#include "slurm_shim/plan/task_policy.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace shim::plan {
namespace {

// CPUs a task can count on everywhere: the minimum over the hosts that have tasks.
void set_cpus_per_task(TaskCounts& counts,
                       const std::vector<HostGrant>& hosts,
                       std::string_view what_differs) {
  int least = 0;
  bool uneven = false;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (counts.per_node[i] == 0) continue;
    const int cpus = std::max(1, hosts[i].slots / counts.per_node[i]);
    if (least != 0 && cpus != least) uneven = true;
    least = least == 0 ? cpus : std::min(least, cpus);
  }
  counts.cpus_per_task = least;
  if (uneven)
    counts.warnings.push_back(fmt::format(
        "heterogeneous {}; SLURM_CPUS_PER_TASK collapsed to minimum {}", what_differs, least));
}

} // namespace

Result<TaskPolicy> parse_task_policy(std::string_view word) {
  for (const auto policy : {TaskPolicy::slot, TaskPolicy::node, TaskPolicy::gpu})
    if (word == to_text(policy)) return policy;
  return fail(ErrorKind::usage, fmt::format("unknown task policy \"{}\"", word));
}

std::string_view to_text(TaskPolicy policy) {
  switch (policy) {
  case TaskPolicy::slot: return "slot";
  case TaskPolicy::node: return "node";
  case TaskPolicy::gpu: return "gpu";
  }
  return "";
}

Result<TaskCounts> apply_task_policy(TaskPolicy policy, const std::vector<HostGrant>& hosts) {
  if (hosts.empty()) return fail(ErrorKind::malformed, "no nodes in allocation");
  TaskCounts counts;
  for (const auto& host : hosts) {
    const int tasks = policy == TaskPolicy::slot   ? host.slots
                      : policy == TaskPolicy::node ? 1
                                                   : host.gpus;
    counts.per_node.push_back(tasks);
  }
  counts.ntasks = std::accumulate(counts.per_node.begin(), counts.per_node.end(), 0);
  if (policy == TaskPolicy::gpu && counts.ntasks == 0)
    return fail(ErrorKind::refused, "task_policy gpu but no node was granted a GPU");
  if (policy != TaskPolicy::slot)
    set_cpus_per_task(counts, hosts, policy == TaskPolicy::gpu ? "slots-per-gpu" : "slot counts");
  return counts;
}

} // namespace shim::plan
