#pragma once
// Placement of a step's ranks on an allocation, device slices, and the task policy for jobs that
// plain qsub submitted. Pure: structs in, structs out; no files, sockets, JSON or environment.
// Spec placement, decisions 14, 19, 19a.

#include "slurm_shim/base/result.h"
#include "slurm_shim/slurm/ids.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::plan {

struct AllocationNode {
  std::string host; // layout name
  std::string fqdn; // engine name, also accepted in -w
  int slots = 0;
  std::vector<int> gpus; // granted device ids
};

struct Allocation {
  std::vector<AllocationNode> nodes; // layout order, [0] = master host
  std::vector<int> tasks_per_node;   // the job's own counts; may be short
  int cpus_per_task = 0;             // the job's; 0 = unset
};

// What the step was asked for. srun fills it from its options and from the variables that Slurm's
// srun reads as options: SLURM_NTASKS as -n, SLURM_NNODES as -N, SLURM_NTASKS_PER_NODE.
struct StepRequest {
  int nodes_min = 0;                 // -N min; 0 = not given
  int nodes_max = 0;                 // -N max; 0 = same as min
  int ntasks = 0;                    // -n; 0 = not given
  int ntasks_per_node = 0;           // 0 = not given
  int cpus_per_task = 0;             // 0 = not given
  int gpus_per_task = 0;             // 0 = not given
  std::vector<std::string> nodelist; // -w expanded
  std::vector<std::string> exclude;  // -x expanded
  bool divide_gpus = false;          // per-task binding without a count
  bool overcommit = false;           // -O
};

struct PlacedRank {
  slurm::RankId rank{};
  slurm::LocalId local{};
  slurm::NodeIndex node{}; // index in Placement::nodes
  std::string cpuset;      // logical "a-b" or "" = do not bind
  std::vector<int> gpus;   // device ids this rank sees
};

struct PlacedNode {
  int allocation_index = 0; // index in Allocation::nodes
  std::string host;
  int slots = 0;
  int ntasks = 0;
};

struct Placement {
  std::vector<PlacedNode> nodes;
  std::vector<PlacedRank> ranks; // ascending rank
  int cpus_per_task = 1;
  // Whole lines without the "srun: " prefix; each has its own "Warning: ", "warning: " or "error:
  // ".
  std::vector<std::string> warnings;
};

// Blocks: hosts are filled in allocation order. -n may use all slots (divided by -c); with -N every
// requested host gets a task first. Hosts without a rank are not part of the step.
// Errors have exit code 1 and Slurm's texts without "srun: error: ". ErrorKind::refused: the text
// belongs behind "Unable to create step for job <id>: "; any other kind: it is the whole line.
[[nodiscard]] Result<Placement> place(const Allocation& allocation, const StepRequest& request);

// Device slices of one host's ranks. `shared`: division was asked for, but there are fewer devices
// than tasks, so that all see all.
struct DeviceSlices {
  std::vector<std::vector<int>> per_rank;
  bool shared = false;
};
[[nodiscard]] DeviceSlices
assign_devices(const std::vector<int>& devices, int local_tasks, int gpus_per_task, bool divide);

// How devices are bound: --gpu-bind, else SLURM_GPU_BIND, else the configuration. A word that is
// not supported is a warning and means no division, whatever the configuration says.
struct GpuBind {
  bool divide = false;
  int gpus_per_task = 0;
  std::vector<std::string> warnings;
};
[[nodiscard]] GpuBind resolve_gpu_bind(std::string_view flag,
                                       std::string_view environment,
                                       bool config_per_task,
                                       int gpus_per_task);

} // namespace shim::plan
