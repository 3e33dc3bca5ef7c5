#pragma once
// Job ids: Grid Engine's number, the id of an array element (decision 18a), and what users write:
// N, N_k, N_[a-b], N_*, N.step. Pure.

#include "slurm_shim/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::slurm {

inline constexpr std::uint64_t k_element_stride = 10000019; // above every Grid Engine job number

// The SLURM_JOB_ID of element `element` (0-based position in the submitted set) of a job.
[[nodiscard]] constexpr std::uint64_t element_job_id(std::uint64_t job, std::uint64_t element) {
  return job + (element + 1) * k_element_stride;
}
struct DecodedJobId {
  std::uint64_t job = 0;                // Grid Engine's number
  std::optional<std::uint64_t> element; // 0-based; nothing: an ordinary job, or the whole array
  bool operator==(const DecodedJobId&) const = default;
};
[[nodiscard]] constexpr DecodedJobId decode_job_id(std::uint64_t id) {
  if (id < k_element_stride) return {id, std::nullopt};
  return {id % k_element_stride, id / k_element_stride - 1};
}

struct JobRef {
  std::uint64_t id = 0;                 // the number as written
  std::uint64_t job = 0;                // Grid Engine's number
  std::optional<std::uint64_t> element; // 0-based position, when an element's own id was written
  // Array indices of N_k and N_[list], ascending; empty = none named, or all (N_*).
  std::vector<std::uint32_t> indices;
  bool whole_array = false; // N_*
  bool bracketed = false;   // N_[...]
  std::string step;         // "" = the job; "0", "batch", "extern", "interactive"
  [[nodiscard]] bool single_index() const { return indices.size() == 1 && !bracketed; }
};

// Error (usage, exit 1): "Invalid job id <text>"; a bad list in brackets puts Slurm's
// "_parse_single_range: Invalid range: `x'" and a line feed in front (each line is printed with the
// prefix).
[[nodiscard]] Result<JobRef> parse_job_id(std::string_view text);

} // namespace shim::slurm
