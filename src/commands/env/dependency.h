#pragma once
// Jobs that depend on each other: how a job's predecessors ended, from the user's own records, then
// from accounting; and the end of the wait of those that only want this job's start. The hook calls
// it, when the engine's hold is over. Decides nothing itself (fabricate/dependency.h).

#include "slurm_shim/context/context.h"
#include "slurm_shim/fabricate/fabricate.h"

#include <optional>
#include <string>

namespace shim::commands::env {

// Why the job may never run; nothing: it may. Waits some seconds for accounting where it has to.
[[nodiscard]] std::optional<std::string> judge_dependency(context::Context& ctx,
                                                          const fabricate::JobFacts& facts);

// The job starts: those that wait for this go on, or are told when. Never fails the job.
void release_waiting(context::Context& ctx, const fabricate::JobFacts& facts);

} // namespace shim::commands::env
