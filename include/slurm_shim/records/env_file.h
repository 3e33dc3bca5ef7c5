#pragma once
// S/submit/<tok>.env: the user's environment, byte for byte, from sbatch to batch-exec. Owns the
// format, the names that do not travel and the limits. Spec job-files 3, decision E5.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/base/result.h"

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shim::records {

inline constexpr std::size_t k_max_env_string = 131071; // execve's limit for one NAME=VALUE
inline constexpr std::size_t k_max_env_file = std::size_t{64} << 20;

// Names that the engine sets for each job: never taken from the submitter.
[[nodiscard]] bool is_engine_name(std::string_view name);

// What of `env` goes into the file: all but `job_variables` (the fabricator's unset list),
// SLURM_SHIM_* and the engine's names. `named` (--export=NAME=value) always goes in, last.
[[nodiscard]] std::vector<std::string>
select_environment(const EnvList& env,
                   std::span<const std::string_view> job_variables,
                   const std::vector<std::string>& named = {});

// usage error that names the variable that is too long to be exec'ed, or the total size.
[[nodiscard]] Result<void> check_environment(const std::vector<std::string>& entries);

// `slurm-shim-env 1 <count>` NUL, then the entries, each with NUL.
[[nodiscard]] std::string encode_environment(const std::vector<std::string>& entries);
// malformed: wrong head, wrong count, an entry without name.
[[nodiscard]] Result<std::vector<std::string>> decode_environment(std::string_view bytes);

// 0600, by rename.
[[nodiscard]] Result<void> write_environment(const std::string& path,
                                             const std::vector<std::string>& entries);

// The bytes of a file that another host may have written a moment ago: opens the folder anew every
// 200 ms until the file is there (a network file system may be late). not_found after `patience`;
// refused: foreign, at once.
[[nodiscard]] Result<std::string>
read_when_visible(const std::string& path,
                  std::chrono::milliseconds patience = std::chrono::milliseconds{5000});

// The entries of such a file; malformed at once.
[[nodiscard]] Result<std::vector<std::string>>
read_environment(const std::string& path,
                 std::chrono::milliseconds patience = std::chrono::milliseconds{5000});

} // namespace shim::records
