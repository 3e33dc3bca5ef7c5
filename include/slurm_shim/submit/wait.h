#pragma once
// --wait: stays until a submitted job has ended and tells its exit code. Polls by itself, since
// qsub -sync ends with 0 for jobs that were deleted (decision E12). A question that got no answer
// never counts as the end (decision 28). Callers: sbatch.

#include "slurm_shim/context/context.h"
#include "slurm_shim/records/paths.h"

#include <cstdint>
#include <string>
#include <vector>

namespace shim::submit {

struct WaitedJob {
  std::int64_t job = 0;
  std::string user;
  std::string token;                // of the submission: job numbers are used again
  std::vector<std::uint32_t> tasks; // the engine's task numbers; empty = no array
};

// The highest exit code of the job's elements: the script's own, 128+n for a script that died of
// signal n, 1 for what never ran or was ended by the engine.
[[nodiscard]] int
wait_for_end(const context::Context& ctx, const records::StatePaths& state, const WaitedJob& job);

} // namespace shim::submit
