#pragma once
// --dependency: types, job ids, delays, the and/or rule. Pure; whether a job exists is the caller's
// question. vectors/03 dep.*

#include "slurm_shim/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::slurm {

enum class DependencyType {
  after,
  after_any,
  after_ok,
  after_not_ok,
  after_corr,
  after_burst_buffer,
  singleton
};
[[nodiscard]] std::string_view dependency_name(DependencyType type); // "afterok"

struct Dependency {
  DependencyType type = DependencyType::after_any;
  std::uint32_t job = 0;                    // as written; see slurm/job_id.h for elements' own ids
  std::optional<std::uint32_t> array_index; // N_k
  bool whole_array = false;                 // N_*
  std::uint32_t delay_minutes = 0;          // N+m
  bool operator==(const Dependency&) const = default;
};

struct DependencyList {
  std::vector<Dependency> items; // in order, duplicates dropped; an empty list: no dependency
  bool any = false;              // joined by '?': one is enough
};

// Errors (refused, exit 1): "Batch job submission failed: Job dependency problem"; for `expand`
// "... failed: Requested operation not supported on this system".
[[nodiscard]] Result<DependencyList> parse_dependency(std::string_view text);

// "afterok:12(unfulfilled),after:13+5(unfulfilled)": what scontrol shows for a waiting job.
[[nodiscard]] std::string format_dependency(const DependencyList& list);
// The same without these states, as it is recorded.
[[nodiscard]] std::string dependency_text(const DependencyList& list);

} // namespace shim::slurm
