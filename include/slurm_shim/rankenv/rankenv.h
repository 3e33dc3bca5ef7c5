#pragma once
// The environment of a rank, in its four layers: 1 the job's environment filtered by --export, 2
// the step's shadows of the job-level values, 3 what differs per rank, 4 what is local to the host.
// srun computes 1 to 3, the stepper adds 4, and `srun --test-only` prints the result of the very
// same functions. Pure: knows no process, file or configuration. Spec environment 7, decisions 15
// and 18.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/slurm/ids.h"
#include "slurm_shim/slurm/words.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::rankenv {

// --- layer 1 ------------------------------------------------------------------------------------

// What --export (or SLURM_EXPORT_ENV) lets through. `all`: everything; NONE, NIL and lists: TMPDIR
// and SLURM_* only (no PATH, no HOME, as in Slurm). A list adds its settings and the values that
// its names have in `own`; a name that is not set there is left out. With ALL in the list a setting
// counts only where the environment has no value: Slurm 22.05 does it that way. What belongs to the
// shim's own transport (SLURM_SHIM_REQ, SLURM_SHIM_TOKEN) never passes.
[[nodiscard]] EnvList filter_export(const EnvList& own, const slurm::ExportSpec& spec);

// The variables by which device runtimes choose what they see.
[[nodiscard]] const std::vector<std::string_view>& device_mask_variables();
// Removed, never emptied: an empty CUDA_VISIBLE_DEVICES means no device at all. To be called only
// when a mask will be written or the job was granted devices, and never under cgroup isolation.
void remove_device_masks(EnvList& env);

// --- layer 2 ------------------------------------------------------------------------------------

struct StepFacts {
  int step_id = 0;
  std::string nodelist;               // compressed, step order
  std::vector<int> tasks_per_node;    // step order; its sum is SLURM_NTASKS
  int cpus_per_task = 0;              // 0: leave SLURM_CPUS_PER_TASK as the job has it
  std::string distribution;           // "" = default_distribution()
  int plane_size = 0;                 // -m plane=n; 0 = SLURM_DIST_PLANESIZE is not set
  bool ntasks_per_node_given = false; // --ntasks-per-node of this step
  std::string launch_node_ip;         // "" = unknown, the job's value stays
  std::string comm_host;              // control address; "" = SLURM_SRUN_COMM_* are not set
  int comm_port = 0;
  std::optional<unsigned> umask;
  std::string job_name; // -J of this step; "" = the job's stays
};

// Slurm's own choice when -m is not given: cyclic as long as no node has to take a second task.
[[nodiscard]] std::string_view default_distribution(int ntasks, int nnodes);

// Replaces in place, appends what is new, and removes what would contradict the step: a
// SLURM_NTASKS_PER_NODE of an uneven step, and device counts that are per node. An even step
// changes SLURM_NTASKS_PER_NODE only where the job has it or the step asked for it (as Slurm does).
void apply_step_shadows(EnvList& env, const StepFacts& facts);

// --- layer 3 ------------------------------------------------------------------------------------

// SLURM_GTIDS of a host: its ranks, ascending, joined once per host.
[[nodiscard]] std::string gtids_text(const std::vector<slurm::RankId>& ranks_of_host);

struct RankFacts {
  slurm::RankId rank{};
  slurm::LocalId local{};
  slurm::NodeIndex node{};
  std::string_view gtids; // gtids_text of the rank's host
  int cpus_on_node = 0;   // slots of the rank's host
  int gpus_on_node = 0;   // devices that the step has there
  // Devices this rank sees; null or empty: none.
  const std::vector<std::string>* gpus = nullptr;
};
// SLURM_PROCID, SLURM_LOCALID, SLURM_NODEID, SLURM_GTIDS, SLURM_CPUS_ON_NODE, in this order; then
// SLURM_GPUS_ON_NODE and SLURM_STEP_GPUS where there are devices.
[[nodiscard]] std::vector<std::string> rank_delta(const RankFacts& facts);

// --- layer 4 ------------------------------------------------------------------------------------

inline constexpr std::string_view k_task_pid = "SLURM_TASK_PID";

// "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES" or "" (no mask is written).
[[nodiscard]] bool is_gpu_variable(std::string_view name);

struct HostLocal {
  std::string_view host;         // SLURMD_NODENAME: the layout's name
  std::string_view gpu_variable; // see is_gpu_variable
  const std::vector<std::string>* gpus = nullptr;
};
// The whole environment of a rank but SLURM_TASK_PID, which the rank's trampoline appends when it
// knows its pid; a value inherited from an outer step is taken out here, so that there is one.
[[nodiscard]] EnvList rank_environment(const EnvList& step_env,
                                       const std::vector<std::string>& delta,
                                       const HostLocal& local);

} // namespace shim::rankenv
