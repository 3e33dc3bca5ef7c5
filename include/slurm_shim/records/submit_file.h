#pragma once
// S/jobs/<id>.submit: what was submitted, written by sbatch after qsub has answered. Read by the
// query commands and the sweep. Holds no environment values. Spec job-files 6.

#include "slurm_shim/base/result.h"
#include "slurm_shim/records/paths.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::records {

struct SubmitFile {
  std::string tok;
  std::int64_t job = 0;
  std::optional<std::string> tasks; // Slurm's array expression "0-9:3,20"; nothing: no array
  bool native = true;               // engine's task numbers are Slurm's indices
  std::int64_t sub = 0;             // unix seconds
  std::string host;
  std::vector<std::string> cmd;  // sbatch's words
  std::vector<std::string> qsub; // qsub's words
  std::string req;               // full text of the submit record
};

// Text that is not UTF-8 is kept readable (U+FFFD), not exact.
[[nodiscard]] std::string to_json(const SubmitFile& file);
[[nodiscard]] Result<SubmitFile> submit_file_from_json(std::string_view json,
                                                       const std::string& where);
[[nodiscard]] Result<void> write_submit_file(const StatePaths& state, const SubmitFile& file);
// not_found when sbatch did not submit it from this user and cell.
[[nodiscard]] Result<SubmitFile> read_submit_file(const StatePaths& state, std::int64_t job);

// S/jobs/<id>.script: a script that is no file of its own (--wrap, a pipe), byte by byte. Without
// text the file of an earlier job of that number goes.
[[nodiscard]] Result<void>
keep_script(const StatePaths& state, std::int64_t job, std::optional<std::string_view> text);
// not_found when the script was a file.
[[nodiscard]] Result<std::string> read_kept_script(const StatePaths& state, std::int64_t job);

} // namespace shim::records
