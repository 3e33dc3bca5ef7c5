#pragma once
// A YAML document as a plain tree with the place of every node. Takes the subset the configuration
// needs: maps, lists, scalars; refuses anchors, aliases, tags, further documents, duplicate keys
// and deep nesting. Only yaml_tree.cpp sees yaml-cpp.

#include "slurm_shim/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace shim::config {

struct Place {
  int line = 1, column = 1; // 1-based
};

struct YamlNode {
  enum class Kind { null, scalar, list, map } kind = Kind::null;
  Place place;
  std::string scalar;
  std::vector<YamlNode> items; // list: elements; map: values
  std::vector<YamlNode> keys;  // map: scalars, as many as items
};

// "config: <file>:<line>:<column>: <text>"
[[nodiscard]] tl::unexpected<Error>
fail_at(const std::string& file, Place place, std::string_view text);

// An empty document is a null node.
[[nodiscard]] Result<YamlNode> parse_yaml(std::string_view text, const std::string& file);

} // namespace shim::config
