#include "gpus.h"

#include "slurm_shim/submit/refusal.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

namespace shim::submit {

namespace {

int count_of(const std::vector<slurm::Gres>& list) {
  return static_cast<int>(slurm::total_count(list));
}

std::vector<slurm::Gres> times(std::vector<slurm::Gres> list, int factor) {
  for (auto& gres : list)
    gres.count *= static_cast<std::uint64_t>(factor);
  return list;
}

std::vector<slurm::Gres> gpus_of(const std::vector<slurm::Gres>& gres) {
  std::vector<slurm::Gres> gpus;
  for (const auto& one : gres)
    if (one.name == "gpu") gpus.push_back(one);
  return gpus;
}

// How many nodes a job of `ntasks` needs: the fewest that are large enough, as far as their size is
// known, and over which a total of GPUs divides evenly; one, when none will do.
int fewest_nodes(const GpuDemand& demand, int gpus_per_node, const Shape& shape) {
  const int total = count_of(demand.total);
  const int per_task = count_of(demand.per_task);
  for (int n = 1; n <= shape.ntasks; ++n) {
    const int tasks = ceil_div(shape.ntasks, n);
    const bool even = total % n == 0;
    const int gpus = std::max(total / n, per_task * tasks);
    const bool fits =
        tasks <= demand.most_tasks.value_or(tasks) &&
        (shape.slots_per_node == 0 || tasks * shape.cpus_per_task <= shape.slots_per_node) &&
        (gpus_per_node == 0 || gpus <= gpus_per_node);
    if (even && fits) return n;
  }
  return 1;
}

} // namespace

GpuDemand gpu_demand(const Request& r) {
  GpuDemand demand;
  const auto gres = gpus_of(r.gres);
  if (count_of(r.gpus_per_node) > 0) {
    demand = {"gpus-per-node", r.gpus_per_node, {}, {}, {}};
  } else if (count_of(gres) > 0) {
    demand = {"gres", gres, {}, {}, {}};
  } else if (count_of(r.gpus) > 0) {
    demand = {"gpus", {}, r.gpus, {}, {}};
  } else if (count_of(r.gpus_per_task) > 0) {
    demand = {"gpus-per-task", {}, {}, r.gpus_per_task, {}};
  } else if (count_of(r.gpus_per_socket) > 0) {
    demand = {
        "gpus-per-socket", times(r.gpus_per_socket, r.sockets_per_node.value_or(1)), {}, {}, {}};
  } else if (r.tasks_per_gpu && r.ntasks) {
    const auto count = static_cast<std::uint64_t>(ceil_div(*r.ntasks, *r.tasks_per_gpu));
    demand = {"ntasks-per-gpu", {}, {{"gpu", "", count}}, {}, {}};
  }
  if (const int per_task = count_of(r.gpus_per_task); per_task > 0 && !demand.per_node.empty())
    demand.most_tasks = count_of(demand.per_node) / per_task;
  return demand;
}

void shape_by_gpus(const GpuDemand& demand,
                   const Request& request,
                   int gpus_per_node,
                   Shape& shape) {
  if (!demand.any()) return;
  const int on_node = count_of(demand.per_node);
  if (request.tasks_per_gpu && on_node > 0 && shape.ntasks == 0 && shape.tasks_per_node == 0)
    shape.tasks_per_node = *request.tasks_per_gpu * on_node;
  const bool cpus_by_gpu = request.cpus_per_gpu && !request.cpus_per_task;
  if (cpus_by_gpu && !demand.per_task.empty())
    shape.cpus_per_task = *request.cpus_per_gpu * count_of(demand.per_task);
  const bool open = shape.nodes == 0 && shape.ntasks > 1 && shape.tasks_per_node == 0;
  if (open) shape.nodes = fewest_nodes(demand, gpus_per_node, shape);
  if (!cpus_by_gpu) return;
  const int nodes = std::max(shape.nodes, 1);
  const int gpus = on_node > 0 ? on_node : ceil_div(count_of(demand.total), nodes);
  shape.least_slots = std::max(shape.least_slots, *request.cpus_per_gpu * gpus);
}

Result<std::vector<slurm::Gres>> gpus_on_node(const GpuDemand& demand, const Geometry& geometry) {
  const auto& on_nodes = geometry.tasks_per_node;
  const int most = on_nodes.empty() ? geometry.ntasks : *std::ranges::max_element(on_nodes);
  if (most > demand.most_tasks.value_or(most))
    return refuse(fmt::format("--gpus-per-task: {} tasks on a host need more GPUs than --{} asks "
                              "for\nBatch job submission failed: Requested node configuration is "
                              "not available",
                              most,
                              demand.option));
  if (!demand.per_node.empty()) return demand.per_node;
  if (!demand.per_task.empty()) {
    // Every host is asked for the same number: that of the host with the most tasks.
    const auto& tasks = geometry.tasks_per_node;
    return times(demand.per_task, tasks.empty() ? 1 : *std::ranges::max_element(tasks));
  }
  auto each = demand.total;
  const auto nodes = static_cast<std::uint64_t>(std::max(geometry.nodes, 1));
  for (auto& gres : each) {
    if (gres.count % nodes != 0)
      return refuse(fmt::format("--{}: {} GPUs cannot be divided evenly over {} nodes\n"
                                "Batch job submission failed: Requested node configuration is not "
                                "available",
                                demand.option,
                                gres.count,
                                nodes));
    gres.count /= nodes;
  }
  return each;
}

} // namespace shim::submit
