#pragma once
// Where a step can run: the job's layout, or this host alone outside of any job (standalone:
// local). Spec launch 1 step 3, decision 16.

#include "request.h"

#include "slurm_shim/context/context.h"
#include "slurm_shim/layout/layout.h"
#include "slurm_shim/plan/plan.h"
#include "slurm_shim/records/batch_json.h"

#include <chrono>
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

// The job's layout on this host. Searched for when somebody asks first, and once: several decisions
// of one srun hang on it, and that of a large job is long.
class LayoutHere {
public:
  // `env` must outlive the search.
  explicit LayoutHere(const EnvList& env) : m_env(env) {}
  [[nodiscard]] const Result<layout::Found>& get();
  // For who asks last.
  [[nodiscard]] Result<layout::Found> take();
  // There is none; one that is there but cannot be used is not missing.
  [[nodiscard]] bool is_missing();

private:
  const EnvList& m_env;
  std::optional<Result<layout::Found>> m_found;
};

// What an srun outside of any job does: allocate, local or reject (decision 16).
[[nodiscard]] config::Standalone standalone_mode(const context::Context& ctx);
// The job that SLURM_JOB_ID names when its layout is not on this host but a cluster is here: from a
// task on another host of the job, or from a shell that was told the number. "" = none.
[[nodiscard]] std::string job_of_other_host(const context::Context& ctx, LayoutHere& here);
// There is a layout, or a variable that says there should be one.
[[nodiscard]] bool is_inside_job(const EnvList& env, LayoutHere& here);

// `env` gets the job-level variables that a standalone step has to invent.
[[nodiscard]] Result<Ground>
find_ground(context::Context& ctx, const Request& request, LayoutHere& here, EnvList& env);

// Seconds until the time limit of a job from sbatch; nothing when it has none or nobody knows.
[[nodiscard]] std::optional<std::chrono::seconds> job_time_left(const Ground& ground,
                                                                std::int64_t now_ms);

[[nodiscard]] plan::Allocation to_allocation(const layout::Layout& layout);

} // namespace shim::commands::srun
