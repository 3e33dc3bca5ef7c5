#pragma once
// The names of the job-level SLURM_* variables, from the one table that also makes the exports. A
// job must not inherit them from the job it was submitted in: the environment file unsets them
// first, and sbatch leaves them out of the environment it sends along. Spec environment 1 and 4.

#include <span>
#include <string_view>

namespace shim::fabricate {

[[nodiscard]] std::span<const std::string_view> job_variable_names();

} // namespace shim::fabricate
