#pragma once
// The steps of running jobs: the batch script of every job, and what its record says of srun's
// steps (the caller's own jobs only: others' records are not readable). Callers: squeue -s,
// scontrol. Decision 27, job-files 6.

#include "slurm_shim/queue/queue.h"

#include <cstdint>
#include <string>
#include <vector>

namespace shim::queue {

struct Step {
  std::string step;              // "0", "batch"
  std::string job_id;            // as it is shown: "7", "7_3"
  std::uint64_t job = 0, id = 0; // the engine's number; SLURM_JOB_ID
  std::string name, partition, user;
  std::string hosts; // compressed
  slurm::JobState state = slurm::JobState::running;
  std::int64_t start = 0; // unix seconds
  std::uint32_t limit_min = slurm::k_unlimited_minutes;
  int nodes = 1, tasks = 1, cpus = 1;
  [[nodiscard]] std::string display_id() const { return job_id + "." + step; }
};

// In the order of the jobs; of each job the numbered steps first.
[[nodiscard]] std::vector<Step> steps_of(const Source& source, const std::vector<Job>& jobs);

} // namespace shim::queue
