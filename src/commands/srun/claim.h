#pragma once
// A step's slots and devices among those of the other running steps of its job: looks for room,
// waits for it as Slurm does, takes the step's number and registers it. Two steps never claim at
// the same time. A step whose srun has gone holds nothing. Spec job-files 7; vectors 06 bg.*.

#include "step_plan.h"

#include "slurm_shim/records/steps.h"

#include <optional>

namespace shim::commands::srun {

// Sets placement and number of the plan. Nothing is registered outside of a job. Errors carry
// Slurm's text: slots that are busy under -I, a signal while waiting.
[[nodiscard]] Result<std::optional<records::StepRegistration>> claim_step(context::Context& ctx,
                                                                          StepPlan& plan);

// The allocation with what other steps hold. A step that overlaps or overcommits does not care
// about their slots, one that overlaps prefers devices that nobody holds.
[[nodiscard]] plan::Allocation crowded_allocation(const StepPlan& plan,
                                                  const std::vector<records::RunningStep>& running);
// Slots that the placed step holds on each of its hosts.
[[nodiscard]] std::vector<int> held_slots(const StepPlan& plan);

} // namespace shim::commands::srun
