#pragma once
// --prolog and --epilog: programs that run beside srun, before and after its step, with the step's
// command as arguments. Their exit codes change nothing, as in Slurm.

#include "step_plan.h"

#include "slurm_shim/context/context.h"

#include <string>

namespace shim::commands::srun {

// Runs it to its end; "" and "none" are no program. One that cannot be started is told.
void run_hook(context::Context& ctx, const StepPlan& plan, const std::string& program);

} // namespace shim::commands::srun
