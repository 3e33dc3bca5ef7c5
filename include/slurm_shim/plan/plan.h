#pragma once
// Placement of a step's ranks on an allocation, device slices, and the task policy for jobs that
// plain qsub submitted. Pure: structs in, structs out; no files, sockets, JSON or environment.
// Spec placement, decisions 14, 19, 19a.

#include <optional>
#include <string>
#include <vector>

#include "slurm_shim/base/result.h"
#include "slurm_shim/slurm/ids.h"

namespace shim::plan {

struct AllocationNode {
  std::string host;                // layout name
  std::string fqdn;                // engine name, also accepted in -w
  int slots = 0;
  std::vector<int> gpus;           // granted device ids
};

struct Allocation {
  std::vector<AllocationNode> nodes; // layout order, [0] = master host
  std::vector<int> tasks_per_node;   // the job's own counts; may be short
  int cpus_per_task = 0;             // the job's; 0 = unset
};

struct StepRequest {
  int nodes_min = 0;             // -N min; 0 = not given
  int nodes_max = 0;             // -N max; 0 = same as min / unlimited
  int ntasks = 0;                // -n; 0 = not given
  int ntasks_per_node = 0;       // 0 = not given
  int cpus_per_task = 0;         // 0 = not given
  int gpus_per_task = 0;         // 0 = not given
  std::vector<std::string> nodelist; // -w expanded
  std::vector<std::string> exclude;  // -x expanded
  bool divide_gpus = false;      // per-task binding without a count
  bool overcommit = false;
};

struct PlacedRank {
  slurm::RankId rank{};
  slurm::LocalId local{};
  slurm::NodeIndex node{};    // index in Placement::nodes
  std::string cpuset;         // logical "a-b" or "" = do not bind
  std::vector<int> gpus;      // device ids this rank sees
};

struct PlacedNode {
  int allocation_index = 0;   // index in Allocation::nodes
  std::string host;
  int slots = 0;
  int ntasks = 0;
};

struct Placement {
  std::vector<PlacedNode> nodes;
  std::vector<PlacedRank> ranks; // ascending rank
  int cpus_per_task = 1;
  std::vector<std::string> warnings; // whole lines without prefix
};

// Error texts are Slurm's or the spec's, without the "srun: error: " prefix; exit code 1.
[[nodiscard]] Result<Placement> place(const Allocation& allocation, const StepRequest& request);

} // namespace shim::plan
