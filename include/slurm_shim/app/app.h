#pragma once
// The multi-call front: which command argv[0] or the first word names, answered from one table.
// docs/architecture.md section 3.

namespace shim::app {

// rank-exec, stepper and batch-exec are answered before config, logging or anything else is
// touched: they are exec'ed per rank and per host.
[[nodiscard]] int run(int argc, char** argv);

// Ends the process when the call is for the stepper or rank-exec; otherwise does nothing. May be
// called before any static constructor has run (decision 30).
void run_early(int argc, char** argv);

} // namespace shim::app
