#pragma once
// File name patterns of -o, -e and -i (%j %J %A %a %t %n %N %s %x %u %%, widths, the backslash
// that switches them off). Pure. Used by srun, batch-exec and the stepper. Spec stepper 4,
// vectors/05.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shim::mux {

struct PatternFields {
  std::int64_t job_id = 0;                   // %j: Slurm's id of this element
  std::int64_t array_job_id = 0;             // %A: the engine's job number
  std::optional<std::int64_t> array_task_id; // %a: Slurm's index; none: 4294967294, as in Slurm
  std::optional<int> step_id;                // %s; none = the batch script: %J is then %j
  int rank = 0;                              // %t
  int node_id = 0;                           // %n
  std::string node_name;                     // %N, short
  std::string job_name;                      // %x
  std::string user;                          // %u
};

[[nodiscard]] std::string expand_pattern(std::string_view pattern, const PatternFields& fields);
// True when `verb` ('t', 'n', 'N') occurs as a live verb in the pattern.
[[nodiscard]] bool pattern_uses(std::string_view pattern, char verb);
// A file per task or host is the tasks' own (opened where they run); any other one is srun's.
[[nodiscard]] bool is_tasks_own_pattern(std::string_view pattern);

} // namespace shim::mux
