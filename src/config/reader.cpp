#include "reader.h"

#include "values.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/time_limit.h"

namespace shim::config {

tl::unexpected<Error> Value::expected(std::string_view what) const {
  std::string text = m_path + ": expected " + std::string(what);
  if (m_node.kind == YamlNode::Kind::scalar) text += ", found \"" + m_node.scalar + "\"";
  return fail_at(m_file, m_node.place, text);
}

Result<void> Value::scalar(std::string& out, std::string_view what) const {
  if (m_node.kind != YamlNode::Kind::scalar) return expected(what);
  out = m_node.scalar;
  return {};
}

Result<void> Value::text(std::string& out) const {
  return scalar(out, "a string");
}

Result<void> Value::boolean(bool& out) const {
  std::string text;
  TRY(scalar(text, "true or false"));
  const auto value = to_bool(text);
  if (!value) return expected("true or false");
  out = *value;
  return {};
}

Result<void> Value::integer(int& out, int low, int high) const {
  const auto what = "a whole number from " + std::to_string(low) + " to " + std::to_string(high);
  std::string text;
  TRY(scalar(text, what));
  const auto value = parse_int<int>(text);
  if (!value || *value < low || *value > high) return expected(what);
  out = *value;
  return {};
}

Result<void> Value::duration(milliseconds& out, bool positive) const {
  const std::string_view what = positive ? "a duration above zero with a unit, such as 1m30s"
                                         : "a duration with a unit, such as 30s";
  std::string text;
  TRY(scalar(text, what));
  const auto value = to_duration(text);
  if (!value || (positive && value->count() == 0)) return expected(what);
  out = *value;
  return {};
}

Result<void> Value::word(std::string& out, std::initializer_list<std::string_view> words) const {
  std::string text;
  const auto what = "one of " + join(words, ", ");
  TRY(scalar(text, what));
  for (const auto word : words)
    if (word == text) {
      out = text;
      return {};
    }
  return expected(what);
}

Result<void> Value::texts(std::vector<std::string>& out) const {
  std::vector<std::string> list;
  auto read = elements([&](const Value& element) { return element.text(list.emplace_back()); });
  if (read) out = std::move(list);
  return read;
}

Result<void> Value::text_map(std::map<std::string, std::string>& out) const {
  return entries([&](const std::string& key, const Value& value) { return value.text(out[key]); });
}

Result<void> Value::minutes(std::optional<int>& out) const {
  constexpr std::string_view k_what = "a Slurm time, such as 60, 1:30:00 or 2-00:00:00";
  std::string text;
  TRY(scalar(text, k_what));
  const auto limit = slurm::parse_time_limit(text);
  if (!limit || (*limit != slurm::k_unlimited_minutes && *limit > 0x7fffffff))
    return expected(k_what);
  if (*limit != slurm::k_unlimited_minutes) out = static_cast<int>(*limit);
  return {};
}

Result<void>
Value::entries(const std::function<Result<void>(const std::string&, const Value&)>& each) const {
  if (m_node.kind == YamlNode::Kind::null) return {};
  if (m_node.kind != YamlNode::Kind::map) return expected("a map of keys");
  for (std::size_t i = 0; i < m_node.keys.size(); ++i) {
    const auto& key = m_node.keys[i].scalar;
    TRY(each(key,
             Value(m_file,
                   m_node.items[i],
                   m_path.empty() ? key : m_path + "." + key,
                   m_node.keys[i].place)));
  }
  return {};
}

Result<void> Value::elements(const std::function<Result<void>(const Value&)>& each) const {
  if (m_node.kind == YamlNode::Kind::null) return {};
  if (m_node.kind != YamlNode::Kind::list) return expected("a list");
  for (std::size_t i = 0; i < m_node.items.size(); ++i)
    TRY(each(Value(
        m_file, m_node.items[i], m_path + "[" + std::to_string(i) + "]", m_node.items[i].place)));
  return {};
}

std::string Value::unknown_key() const {
  return fail_at(m_file, m_key_place, "unknown config key \"" + m_path + "\" ignored")
      .value()
      .message;
}

} // namespace shim::config
