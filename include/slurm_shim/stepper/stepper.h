#pragma once
// One stepper per host and step: front (channel, output) and guardian (parent of the ranks), and
// the rank-exec trampoline. Spec stepper, fixtures OCS-FACTS-3 section 7, decisions 6-8, E1.
// Never includes config, ge or layout.

#include <span>

namespace shim::stepper {

// `slurm-shim stepper --envelope X`; args without the subcommand word. Exit code; always by exit.
[[nodiscard]] int stepper_main(std::span<char* const> args);
// `slurm-shim rank-exec [--cpuset LIST] [--chdir DIR] [--task-prolog PROGRAM] -- CMD ARG...`.
// Returns only on failure.
[[nodiscard]] int rank_exec_main(std::span<char* const> args);

} // namespace shim::stepper
