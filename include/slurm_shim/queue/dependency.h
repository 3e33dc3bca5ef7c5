#pragma once
// What of a job's dependency is still open, as squeue and scontrol show it (vectors/13 life.dep.*).
// A predecessor's end is known from the caller's own records. Callers: history.

#include "slurm_shim/queue/queue.h"
#include "slurm_shim/slurm/dependency.h"

#include <functional>
#include <string>
#include <string_view>

namespace shim::queue {

struct OpenDependency {
  std::string text;     // "afterok:5(failed),afterany:6(unfulfilled)"; "" = nothing is open
  bool in_vain = false; // a predecessor has ended as it must not
};
// `waits`: whether the job still waits for what this part names.
[[nodiscard]] OpenDependency
open_dependency(const Source& source,
                std::string_view dependency,
                const std::function<bool(const slurm::Dependency&)>& waits);

// The same of a job that ended because of it: what failed, where nothing is known of the
// predecessors all that could have.
[[nodiscard]] std::string failed_dependency(const Source& source, std::string_view dependency);

} // namespace shim::queue
