#pragma once
// S/jobs/<id>.after: jobs of the same user that wait for the start of job <id>. sbatch appends a
// line, the PE hook of <id> reads them and ends the waits; who does not get there waits for the
// end. Spec sbatch-translate 6.5, job-files 6.

#include "slurm_shim/base/result.h"
#include "slurm_shim/records/paths.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace shim::records {

struct AfterNote {
  std::int64_t job = 0;     // who waits
  std::int64_t minutes = 0; // from the start on
  friend bool operator==(const AfterNote&, const AfterNote&) = default;
};

[[nodiscard]] Result<void>
note_after(const StatePaths& state, std::int64_t predecessor, const AfterNote& note);
// Lines that do not parse are left out.
[[nodiscard]] std::vector<AfterNote> parse_after_notes(std::string_view text);
// What is noted, none when there is no file; it is removed.
[[nodiscard]] std::vector<AfterNote> take_after_notes(const StatePaths& state,
                                                      std::int64_t predecessor);

} // namespace shim::records
