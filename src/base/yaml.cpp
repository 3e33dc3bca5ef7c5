#include "slurm_shim/base/yaml.h"

#include "slurm_shim/base/assert.h"

#include <nlohmann/json.hpp>

namespace shim {

namespace {

using Json = nlohmann::ordered_json;

bool is_nested(const Json& value) {
  return value.is_structured() && !value.empty();
}

void write(const Json& value, std::size_t indent, std::string& out);

// What follows "key:" or "-": a scalar on the same line, a tree on the next ones.
void write_value(const Json& value, std::size_t indent, std::string& out) {
  if (is_nested(value)) {
    out += '\n';
    write(value, indent, out);
  } else {
    out += ' ' + value.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
  }
}

void write(const Json& value, std::size_t indent, std::string& out) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      out.append(indent, ' ');
      out += Json(key).dump(-1, ' ', false, Json::error_handler_t::replace) + ':';
      write_value(member, indent + 2, out);
    }
    return;
  }
  for (const auto& member : value) {
    out.append(indent, ' ');
    out += '-';
    write_value(member, indent + 2, out);
  }
}

} // namespace

std::string json_to_yaml(std::string_view json) {
  const auto value = Json::parse(json, nullptr, false);
  SHIM_ASSERT(!value.is_discarded());
  std::string out = "---\n";
  if (is_nested(value))
    write(value, 0, out);
  else
    out += value.dump() + '\n';
  return out;
}

} // namespace shim
