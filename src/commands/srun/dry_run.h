#pragma once
// `srun --test-only`: what each task would really get, without starting anything or taking a step
// number. The environments come from the very functions that the step and its steppers use. Spec
// environment 7; pure but for the plan it is given.

#include "step_plan.h"

#include <string>

namespace shim::commands::srun {

// The report, one text. `own`: the environment of this srun; what the step changes is told in
// comparison with it.
[[nodiscard]] std::string dry_run_report(const context::Context& ctx, const StepPlan& plan);

// One line, whatever the bytes are: control characters and backslashes as \n, \t, \\, \x1b.
[[nodiscard]] std::string printable(std::string_view bytes);

} // namespace shim::commands::srun
