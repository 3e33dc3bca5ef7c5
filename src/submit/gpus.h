#pragma once
// GPUs in all the forms in which they are asked for, to a number on each host; and what they mean
// for nodes and CPUs. Pure. Spec sbatch-translate 6.3.

#include "slurm_shim/base/result.h"
#include "slurm_shim/submit/geometry.h"
#include "slurm_shim/submit/request.h"

#include <optional>
#include <string_view>
#include <vector>

namespace shim::submit {

struct GpuDemand {
  // Which of the options counts; "" = no GPU is asked for.
  std::string_view option;
  std::vector<slurm::Gres> per_node; // --gpus-per-node, --gres, --gpus-per-socket times sockets
  std::vector<slurm::Gres> total;    // --gpus, --ntasks-per-gpu with --ntasks
  std::vector<slurm::Gres> per_task; // --gpus-per-task
  std::optional<int> most_tasks;     // on a host, by --gpus-per-task beside per_node
  [[nodiscard]] bool any() const { return !option.empty(); }
};
// Slurm's order of precedence: per node, then in all, then per task. Zero GPUs are none.
[[nodiscard]] GpuDemand gpu_demand(const Request& request);

// What GPUs fix of a shape that is still open: nodes of a job that gives tasks alone, CPUs by
// --cpus-per-gpu. `gpus_per_node`: of the partition's hosts, 0 = unknown.
void shape_by_gpus(const GpuDemand& demand,
                   const Request& request,
                   int gpus_per_node,
                   Shape& shape);

// On each host, by type. Error (complete lines): a total that does not divide over the nodes, more
// tasks on a host than its GPUs are for.
[[nodiscard]] Result<std::vector<slurm::Gres>> gpus_on_node(const GpuDemand& demand,
                                                            const Geometry& geometry);

} // namespace shim::submit
