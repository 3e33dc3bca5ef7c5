#pragma once
// The walk of a parsed document over the table of keys: every key has one row with its reader.
// Unknown keys become warnings, at every level.

#include "yaml_tree.h"

#include "slurm_shim/config/lines.h"

#include <string>

namespace shim::config {
[[nodiscard]] Result<Loaded>
read_document(const YamlNode& root, const std::string& file, Lines& lines);
} // namespace shim::config
