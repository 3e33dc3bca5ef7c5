#pragma once
// Which element of an array this is, in Slurm's numbers. From the submit record's id map, or for a
// plain `qsub -t` from the engine's range. Decisions 18a, 23.

#include "slurm_shim/fabricate/fabricate.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shim::fabricate {

struct ArrayIdentity {
  std::int64_t task = 0;     // the engine's number
  std::int64_t index = 0;    // SLURM_ARRAY_TASK_ID
  std::uint64_t element = 0; // 0-based position in the submitted set
  struct Range {
    std::int64_t min = 0, max = 0, step = 1, count = 1;
  };
  std::optional<Range> range; // nothing: the engine did not say
};

// Nothing: no array.
[[nodiscard]] std::optional<ArrayIdentity> array_identity(const JobFacts& facts,
                                                          std::vector<std::string>& warnings);

// SLURM_JOB_ID: an element has its own, unless the site wants the engine's number for all.
[[nodiscard]] std::int64_t slurm_job_id(const JobFacts& facts,
                                        const std::optional<ArrayIdentity>& array);

} // namespace shim::fabricate
