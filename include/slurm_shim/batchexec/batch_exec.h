#pragma once
// The supervisor of a batch script: environment file, exact outputs, exit codes, job record.
// Spec job-files 4 ("batch-exec"), decision 25. Loads no config; reads J/batch.json.

#include <span>

namespace shim::batchexec {

// `slurm-shim batch-exec -- WORD...`; args without the subcommand word. The script's exit code.
[[nodiscard]] int batch_exec_main(std::span<char* const> args);

} // namespace shim::batchexec
