#pragma once
// A configuration with the lines its values come from, for those who show or judge it: `config
// show`, doctor.

#include "slurm_shim/config/config.h"

#include <map>
#include <string>
#include <string_view>

namespace shim::config {

// Key path ("partitions.batch.queue") -> line, 1-based. What is not in here has its built-in
// default.
using Lines = std::map<std::string, int>;

[[nodiscard]] Result<Loaded> load_file(const std::string& path, Lines& lines);
[[nodiscard]] Result<Loaded>
parse(std::string_view yaml, const std::string& file_name, Lines& lines);

} // namespace shim::config
