#pragma once
// JSON text as YAML of the same tree, for the --yaml of query commands: they build one document and
// print it in either form. Pure.

#include <string>
#include <string_view>

namespace shim {

// Block style, keys in their order, strings double-quoted as in JSON. `json` must be valid JSON.
[[nodiscard]] std::string json_to_yaml(std::string_view json);

} // namespace shim
