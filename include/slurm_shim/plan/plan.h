#pragma once
// Placement of a step's ranks and devices on an allocation. Pure: structs in, structs out; no
// files, sockets, JSON or environment.
// Spec placement, decisions 14, 19, 19a.

#include "slurm_shim/base/result.h"
#include "slurm_shim/plan/devices.h"
#include "slurm_shim/slurm/distribution.h"
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
  Devices gpus;        // granted device ids
  int busy = 0;        // slots that other running steps of the job hold
  Devices gpus_held{}; // devices that they hold
};

struct Allocation {
  std::vector<AllocationNode> nodes; // layout order, [0] = master host
  std::vector<int> tasks_per_node;   // the job's own counts; may be short
  int cpus_per_task = 0;             // the job's; 0 = unset
};

// What the step was asked for. srun fills it from its options and from the variables that Slurm's
// srun reads as options: SLURM_NTASKS as -n, SLURM_NNODES as -N, SLURM_NTASKS_PER_NODE.
struct StepRequest {
  int nodes_min = 0;                   // -N min; 0 = not given
  int nodes_max = 0;                   // -N max; 0 = same as min
  bool nodes_implied = false;          // -N is the job's number of hosts, nobody typed it
  int ntasks = 0;                      // -n; 0 = not given
  int ntasks_per_node = 0;             // 0 = not given
  int cpus_per_task = 0;               // 0 = not given
  std::vector<std::string> nodelist;   // -w expanded
  std::vector<std::string> exclude;    // -x expanded
  std::optional<int> relative;         // -r: the first host of the allocation to use
  slurm::Distribution distribution;    // -m; unset = block
  std::vector<std::string> rank_hosts; // -m arbitrary: the host of each rank, in order
  DeviceRequest devices;
  bool overcommit = false; // -O
  bool overlap = false;    // --overlap: devices are shared with other steps
};

struct PlacedRank {
  slurm::RankId rank{};
  slurm::LocalId local{};
  slurm::NodeIndex node{}; // index in Placement::nodes
  std::string cpuset;      // logical "a-b" or "" = do not bind
  Devices gpus;            // what this rank sees
};

struct PlacedNode {
  int allocation_index = 0; // index in Allocation::nodes
  std::string host;
  int slots = 0;
  int ntasks = 0;
  Devices gpus; // the step's
};

struct Placement {
  std::vector<PlacedNode> nodes;
  std::vector<PlacedRank> ranks; // ascending rank
  int cpus_per_task = 1;
};

// Hosts are taken in allocation order, those with the most room when the first ones are too small.
// -n may use all slots (divided by -c) that no running step holds; with -N every requested host
// gets a task first, then blocks; cyclic and plane deal the ranks out in turn, arbitrary as listed.
// Hosts without a rank are not part of the step.
// Errors have exit code 1 and Slurm's texts without "srun: error: ". ErrorKind::refused: the text
// belongs behind "Unable to create step for job <id>: "; any other kind: it is the whole line.
// `warnings` are also those of a request that is refused: whole lines without the "srun: " prefix,
// each with its own "Warning: ", "warning: " or "error: ".
[[nodiscard]] Result<Placement>
place(const Allocation& allocation, const StepRequest& request, std::vector<std::string>& warnings);

// The same with what running steps hold in mind: nothing when the step fits the allocation, but not
// before one of them has ended.
[[nodiscard]] Result<std::optional<Placement>> place_beside(const Allocation& allocation,
                                                            const StepRequest& request,
                                                            std::vector<std::string>& warnings);

} // namespace shim::plan
