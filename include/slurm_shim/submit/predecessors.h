#pragma once
// Asks what is known of the jobs that --dependency names: the engine, the caller's own records,
// accounting, in this order. What cannot be asked is left out and then waited for. Callers: sbatch
// and who else submits. Spec sbatch-translate 6.5, decision 28.

#include "slurm_shim/ge/tools.h"
#include "slurm_shim/records/paths.h"
#include "slurm_shim/submit/request.h"
#include "slurm_shim/submit/translate.h"

#include <cstdint>
#include <string>
#include <vector>

namespace shim::submit {

// Fills `predecessors` and, for singleton, `own_jobs`.
void ask_predecessors(const ge::Tools& tools,
                      const records::StatePaths& state,
                      const std::string& user,
                      const Request& request,
                      EngineFacts& facts);

// Leaves a word for the hooks of those jobs; `job` is the one that waits. The engine's hold on them
// is there already, so that what goes wrong makes the job wait for their end; that is told.
[[nodiscard]] std::vector<std::string> wait_for_starts(const ge::Tools& tools,
                                                       const records::StatePaths& state,
                                                       std::int64_t job,
                                                       const std::vector<StartWait>& waits);

} // namespace shim::submit
