#pragma once
// Where a step can run: the job's layout, or this host alone outside of any job (standalone:
// local). Spec launch 1 step 3, decision 16.

#include "request.h"

#include "slurm_shim/context/context.h"
#include "slurm_shim/layout/layout.h"
#include "slurm_shim/plan/plan.h"
#include "slurm_shim/records/batch_json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shim::commands::srun {

struct Ground {
  layout::Layout layout;
  bool standalone = false;                // no job: `folder` is empty
  std::string folder;                     // the job's folder J
  std::optional<records::BatchJob> batch; // of a job from sbatch
  std::int64_t slurm_job_id = 0;          // as messages and %j show it
  bool any_remote_possible = false;       // launcher qrsh-inherit inside a job
};

// `env` gets the job-level variables that a standalone step has to invent.
[[nodiscard]] Result<Ground>
find_ground(context::Context& ctx, const Request& request, EnvList& env);

[[nodiscard]] plan::Allocation to_allocation(const layout::Layout& layout);

} // namespace shim::commands::srun
