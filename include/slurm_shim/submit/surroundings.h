#pragma once
// What a submission needs to know before it is translated, besides the engine's facts: where and by
// whom the command was called.

#include "slurm_shim/context/context.h"
#include "slurm_shim/records/paths.h"
#include "slurm_shim/submit/facts.h"
#include "slurm_shim/submit/translate.h"

#include <ctime>
#include <string>

namespace shim::submit {

// `directory`: the caller's. Makes the token of this submission.
[[nodiscard]] Situation look_around(const context::Context& ctx,
                                    const Request& request,
                                    const records::StatePaths& state,
                                    const std::string& directory,
                                    std::time_t now);

// Removes old files of the state folder, at most once a day and never for long.
void sweep_state(const context::Context& ctx,
                 const records::StatePaths& state,
                 const std::string& user);

} // namespace shim::submit
