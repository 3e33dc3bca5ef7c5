#pragma once
// Which of sbatch's variables the job gets, by --export, and what is lost where the engine carries
// them itself (config env_transport: qsub). Pure. Spec job-files 3, sbatch-translate 7.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/slurm/words.h"

#include <string>
#include <vector>

namespace shim::submit {

// The entries of the .env file.
[[nodiscard]] std::vector<std::string> carried_environment(const EnvList& env,
                                                           const slurm::ExportSpec& exports);

// Warnings about entries that Grid Engine drops, cuts or changes, one for each kind.
[[nodiscard]] std::vector<std::string> losses_of_qsub(const std::vector<std::string>& entries);

} // namespace shim::submit
