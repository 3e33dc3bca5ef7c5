#pragma once
// Cleaning the state folder: a pure decision over what is there, and the walk that carries it out.
// Never by age alone: pending jobs, arrays and requeues still need their files. The caller asks the
// engine which jobs are alive; where that failed nothing may be removed. Spec job-files 8.

#include "slurm_shim/base/result.h"
#include "slurm_shim/posix/clock.h"
#include "slurm_shim/records/paths.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace shim::records {

struct FoundFile {
  std::string name; // base name
  std::int64_t modified_s = 0;
};

struct SweepInput {
  std::int64_t now_s = 0;
  std::vector<FoundFile> submit_files; // of S/submit
  std::vector<FoundFile> job_files;    // of S/jobs
  // tok -> job of every S/jobs/<id>.submit that could be read.
  std::vector<std::pair<std::string, std::int64_t>> submitted;
  std::set<std::int64_t> alive; // engine's job numbers in qstat
};

struct SweepPlan {
  std::vector<std::string> submit_names, job_names; // base names to unlink
};

[[nodiscard]] SweepPlan plan_sweep(const SweepInput& input);

// The daily stamp is older than a day or missing.
[[nodiscard]] bool sweep_is_due(const StatePaths& state, const posix::Clock& clock);

// Touches the stamp, asks `alive_jobs` once, removes. Stops after `budget`, so that a submission
// does not wait for it; the rest comes next time. Returns how many files went.
using AliveJobs = std::function<Result<std::set<std::int64_t>>()>;
[[nodiscard]] Result<int> sweep(const StatePaths& state,
                                const posix::Clock& clock,
                                const AliveJobs& alive_jobs,
                                std::chrono::milliseconds budget);

// What sbatch wrote for a submission that qsub refused.
void remove_submission(const StatePaths& state, std::string_view tok);

} // namespace shim::records
