#pragma once
// S/jobs/<id>.cancel: who cancelled elements of a job that had not started. Grid Engine keeps no
// record of a job that is deleted while it waits, so that nothing else could tell sacct. One line
// for each call, written by scancel after the engine has agreed; a failure to write changes
// nothing. Spec job-files 6, decision 27.

#include "slurm_shim/records/paths.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shim::records {

struct CancelNote {
  std::int64_t t = 0; // unix seconds
  std::string user;
  std::vector<std::uint32_t> tasks; // the engine's; empty: the whole job
  [[nodiscard]] bool covers(std::uint32_t task) const;
};

void note_cancel(const StatePaths& state, std::int64_t job, const CancelNote& note);
// Lines that do not parse are left out.
[[nodiscard]] std::vector<CancelNote> parse_cancel_notes(std::string_view text);
[[nodiscard]] std::vector<CancelNote> read_cancel_notes(const StatePaths& state, std::int64_t job);

} // namespace shim::records
