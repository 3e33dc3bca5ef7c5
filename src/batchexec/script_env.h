#pragma once
// The environment of the batch script: what the engine gave this process, the submitter's
// environment from the file, and the job's own variables on top. Pure. Spec job-files 3.

#include "slurm_shim/base/env_list.h"

#include <optional>
#include <string>
#include <vector>

namespace shim::batchexec {

struct ScriptEnvInput {
  EnvList own;                                  // this process's
  std::optional<std::vector<std::string>> user; // the .env file; nothing: env_transport qsub
  std::string shim_folder;                      // where sbatch, srun, ... are
  std::string job_folder;                       // J
  std::string working_directory;
};

[[nodiscard]] std::vector<std::string> compose_script_env(const ScriptEnvInput& input);

} // namespace shim::batchexec
