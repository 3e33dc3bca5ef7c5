#pragma once
// `srun` for a job that is not around this process, from a login node (--jobid) or from a task on
// another host of the job: one stepper on the job's master host, through the job's own allocation,
// whose only task is this very srun, there. So step numbers, slots, records and remote hosts are
// that job's own business; input, output, signals and the exit code pass through.

#include "step_plan.h"

#include <optional>
#include <string>
#include <vector>

namespace shim::commands::srun {

struct OtherJob {
  std::int64_t job = 0;                   // the engine's number
  std::optional<std::int64_t> array_task; // the engine's
  std::uint64_t slurm_id = 0;             // as the user wrote it
  std::string master_host;                // the engine's name
  std::string pe;
  bool has_us = false; // we are in a step of that job
};

// Nothing when `id` is the job around us. Errors are Slurm's: no such job (of this user), pending.
[[nodiscard]] Result<std::optional<OtherJob>>
find_other_job(context::Context& ctx, LayoutHere& here, const std::string& id);

// `words`: srun's own command line, `request` the same read. Sets what the engine's client needs in
// ctx.env.
[[nodiscard]] Result<StepPlan> plan_attachment(context::Context& ctx,
                                               const OtherJob& job,
                                               const Request& request,
                                               const std::vector<std::string>& words);

} // namespace shim::commands::srun
