#pragma once
// Carrying a Submission out: the files of the state folder, the qsub call, the .submit file; what
// was written is removed again when the engine refuses. Spec job-files 1-3, 6, 8;
// sbatch-translate 12.

#include "request.h"
#include "script.h"
#include "translate.h"

#include "slurm_shim/context/context.h"
#include "slurm_shim/records/paths.h"

#include <cstdint>
#include <string>
#include <vector>

namespace shim::commands::sbatch {

struct Delivery {
  const context::Context& ctx;
  const records::StatePaths& state;
  const Situation& situation;
  const Request& request;
  const Script& script;
  const std::vector<std::string>& words; // sbatch's own, for the .submit file
};

// The engine's job number. Warnings go to `submission.warnings`. Errors carry complete lines.
[[nodiscard]] Result<std::int64_t> deliver(const Delivery& delivery, Submission& submission);

// --test-only: the engine is asked, nothing is submitted; the line that Slurm prints.
[[nodiscard]] Result<std::string> try_only(const Delivery& delivery, Submission& submission);

} // namespace shim::commands::sbatch
