#include "slurm_shim/rankenv/rankenv.h"
#include "slurm_shim/slurm/rle.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace shim::rankenv {
namespace {

void set_int(EnvList& env, std::string_view name, int value) {
  env.set(name, std::to_string(value));
}

void shadow_ntasks_per_node(EnvList& env, const StepFacts& facts) {
  constexpr std::string_view k_name = "SLURM_NTASKS_PER_NODE";
  const auto& counts = facts.tasks_per_node;
  const bool even = !counts.empty() && std::all_of(counts.begin(), counts.end(), [&](int count) {
    return count == counts.front();
  });
  if (!even)
    env.unset(k_name);
  else if (env.has(k_name) || facts.ntasks_per_node_given)
    set_int(env, k_name, counts.front());
}

void set_control_address(EnvList& env, const StepFacts& facts) {
  if (!facts.launch_node_ip.empty()) env.set("SLURM_LAUNCH_NODE_IPADDR", facts.launch_node_ip);
  if (facts.comm_host.empty()) return;
  env.set("SLURM_SRUN_COMM_HOST", facts.comm_host);
  set_int(env, "SLURM_SRUN_COMM_PORT", facts.comm_port);
  set_int(env, "SLURM_STEP_LAUNCHER_PORT", facts.comm_port);
}

} // namespace

std::string_view default_distribution(int ntasks, int nnodes) {
  return ntasks <= nnodes ? "cyclic" : "block";
}

void apply_step_shadows(EnvList& env, const StepFacts& facts) {
  const int nnodes = static_cast<int>(facts.tasks_per_node.size());
  const int ntasks = std::accumulate(facts.tasks_per_node.begin(), facts.tasks_per_node.end(), 0);
  const auto per_node = slurm::compress_counts(facts.tasks_per_node);
  set_int(env, "SLURM_NTASKS", ntasks);
  set_int(env, "SLURM_NPROCS", ntasks);
  set_int(env, "SLURM_NNODES", nnodes);
  env.set("SLURM_TASKS_PER_NODE", per_node);
  if (facts.cpus_per_task > 0) set_int(env, "SLURM_CPUS_PER_TASK", facts.cpus_per_task);
  env.set("SLURM_DISTRIBUTION",
          facts.distribution.empty() ? default_distribution(ntasks, nnodes)
                                     : std::string_view(facts.distribution));
  if (facts.plane_size > 0)
    set_int(env, "SLURM_DIST_PLANESIZE", facts.plane_size);
  else
    env.unset("SLURM_DIST_PLANESIZE");
  set_int(env, "SLURM_STEP_ID", facts.step_id);
  set_int(env, "SLURM_STEPID", facts.step_id);
  env.set("SLURM_STEP_NODELIST", facts.nodelist);
  set_int(env, "SLURM_STEP_NUM_NODES", nnodes);
  set_int(env, "SLURM_STEP_NUM_TASKS", ntasks);
  env.set("SLURM_STEP_TASKS_PER_NODE", per_node);
  shadow_ntasks_per_node(env, facts);
  set_control_address(env, facts);
  if (facts.umask) env.set("SLURM_UMASK", fmt::format("{:04o}", *facts.umask));
  if (!facts.job_name.empty()) env.set("SLURM_JOB_NAME", facts.job_name);
  // The job's are the master host's; every rank gets its own host's in layer 3.
  env.unset("SLURM_GPUS_ON_NODE");
  env.unset("SLURM_STEP_GPUS");
}

} // namespace shim::rankenv
