#pragma once
// The task policy: how many tasks a job has that plain qsub submitted, and so said nothing of
// tasks. slot: one per slot; node: one per host; gpu: one per granted device. A job from sbatch
// brings its own geometry and comes here only when that does not fit the grant. Pure. Spec
// environment 2.

#include "slurm_shim/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace shim::plan {

enum class TaskPolicy { slot, node, gpu };

// "slot", "node", "gpu"; anything else: `unknown task policy "x"`.
[[nodiscard]] Result<TaskPolicy> parse_task_policy(std::string_view word);
[[nodiscard]] std::string_view to_text(TaskPolicy policy);

struct HostGrant {
  int slots = 0;
  int gpus = 0;
};

struct TaskCounts {
  std::vector<int> per_node; // as many as hosts
  int ntasks = 0;
  int cpus_per_task = 0; // 0 = unset (policy slot)
  std::vector<std::string> warnings;
};

// Errors: no hosts; policy gpu without any device.
[[nodiscard]] Result<TaskCounts> apply_task_policy(TaskPolicy policy,
                                                   const std::vector<HostGrant>& hosts);

} // namespace shim::plan
