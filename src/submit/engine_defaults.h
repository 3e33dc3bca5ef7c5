#pragma once
// Options that Grid Engine's request files add to every submission. What sbatch says itself
// replaces them; some add up or cannot be undone, and a user who forgot such a file should hear of
// it. The site's own file is the site's policy and not told. OCS-FACTS-2 section 4.

#include "slurm_shim/base/env_list.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shim::submit {

// Words of a request file: blanks and lines separate, '#' begins a comment, quotes hold together.
[[nodiscard]] std::vector<std::string> request_file_words(std::string_view text);

// One text for each option of ~/.sge_request and ./.sge_request that stays in force beside
// `resources` (of -l).
[[nodiscard]] std::vector<std::string>
standing_defaults(const std::vector<std::pair<std::string, std::string>>& files,
                  const std::vector<std::pair<std::string, std::string>>& resources);

// Path and content of those two files, where they are.
[[nodiscard]] std::vector<std::pair<std::string, std::string>>
read_request_files(const EnvList& env, const std::string& directory);

} // namespace shim::submit
