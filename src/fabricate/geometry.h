#pragma once
// Tasks on every host of a job: what sbatch was asked for where it fits the grant, else what the
// task policy says. Decisions 17, 18.

#include "slurm_shim/fabricate/fabricate.h"

#include <string>
#include <vector>

namespace shim::fabricate {

struct JobGeometry {
  std::vector<int> per_node; // as many as hosts
  int ntasks = 0;
  int cpus_per_task = 0;  // 0 = unset
  bool requested = false; // by the submit record
  std::string policy;     // layout's task_policy
};

// `gpus`: granted devices per host.
[[nodiscard]] Result<JobGeometry> decide_geometry(const JobFacts& facts,
                                                  const std::vector<std::vector<std::string>>& gpus,
                                                  std::vector<std::string>& warnings);

} // namespace shim::fabricate
