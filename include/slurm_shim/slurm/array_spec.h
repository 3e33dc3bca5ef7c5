#pragma once
// Job array specifications: 0-3, 1-9:2, 1,3,5%2, [0-3%2]. Owns parsing, validation, the sorted list
// of indices, the compressed text that Slurm prints, and the decision whether Grid Engine can
// number the elements itself (decision 23). Pure. vectors/03 array.*

#include "slurm_shim/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::slurm {

inline constexpr std::uint32_t k_max_array_size = 1001; // Slurm's MaxArraySize: largest index + 1

struct ArraySpec {
  std::vector<std::uint32_t> indices; // ascending, unique, never empty
  std::uint32_t throttle = 0;         // running at once; 0 = no limit
  [[nodiscard]] std::uint32_t min() const { return indices.front(); }
  [[nodiscard]] std::uint32_t max() const { return indices.back(); }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(indices.size()); }
  // SLURM_ARRAY_TASK_STEP: the common distance, 1 when there is none.
  [[nodiscard]] std::uint32_t step() const;
};

// Nothing for "" (no array). Error (refused, exit 1): "Batch job submission failed: Invalid job
// array specification".
[[nodiscard]] Result<std::optional<ArraySpec>>
parse_array_spec(std::string_view text, std::uint32_t max_size = k_max_array_size);

// `qsub -t first-last:step` gives exactly these indices: evenly spaced and first >= 1.
struct NativeRange {
  std::uint32_t first = 1, last = 1, step = 1;
  [[nodiscard]] std::string text() const; // "1-9:2", "3-3:1"
};
[[nodiscard]] std::optional<NativeRange> native_range(const ArraySpec& spec);

// Slurm's text of a set of indices: "0,2-4,6,8", as in ArrayTaskId= and %i; with "%n" when
// `throttle` is not 0.
[[nodiscard]] std::string format_array_indices(const std::vector<std::uint32_t>& indices,
                                               std::uint32_t throttle = 0);

} // namespace shim::slurm
