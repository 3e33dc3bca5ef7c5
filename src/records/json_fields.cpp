#include "json_fields.h"

#include "slurm_shim/base/base64.h"
#include "slurm_shim/base/strings.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace shim::records {

namespace {

std::optional<std::string> text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_object() || value.size() != 1 || !value.contains("b64")) return std::nullopt;
  const auto& coded = value["b64"];
  if (!coded.is_string()) return std::nullopt;
  return base64_decode(coded.get_ref<const std::string&>());
}

std::optional<std::vector<std::string>> texts_of(const Json& list) {
  if (!list.is_array()) return std::nullopt;
  std::vector<std::string> out;
  for (const auto& item : list) {
    auto text = text_of(item);
    if (!text) return std::nullopt;
    out.push_back(std::move(*text));
  }
  return out;
}

std::optional<std::int64_t> int_of(const Json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
    return std::nullopt;
  return value.get<std::int64_t>();
}

} // namespace

Json exact_text(std::string_view bytes) {
  if (is_valid_utf8(bytes)) return std::string(bytes);
  return Json{{"b64", base64_encode(bytes)}};
}

std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const Json* Fields::find(const char* key) const {
  const auto it = m_object.find(key);
  return it == m_object.end() || it->is_null() ? nullptr : &*it;
}

void Fields::wrong(const char* key, std::string_view expected) {
  if (m_error.empty()) m_error = m_where + ": " + key + ": expected " + std::string(expected);
}

Result<void> Fields::finish() const {
  if (m_error.empty()) return {};
  return fail(ErrorKind::malformed, m_error);
}

void Fields::require(const char* key) {
  if (find(key) == nullptr) wrong(key, "a value");
}

void Fields::read(const char* key, std::string& into) {
  const auto* value = find(key);
  if (value == nullptr) return;
  if (auto text = text_of(*value))
    into = std::move(*text);
  else
    wrong(key, "a string");
}

void Fields::read(const char* key, bool& into) {
  const auto* value = find(key);
  if (value == nullptr) return;
  if (value->is_boolean())
    into = value->get<bool>();
  else
    wrong(key, "true or false");
}

void Fields::read(const char* key, std::int64_t& into) {
  const auto* value = find(key);
  if (value == nullptr) return;
  if (const auto number = int_of(*value))
    into = *number;
  else
    wrong(key, "an integer");
}

void Fields::read(const char* key, int& into) {
  std::int64_t wide = into;
  read(key, wide);
  if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max())
    wrong(key, "an integer of 32 bits");
  else
    into = static_cast<int>(wide);
}

void Fields::read(const char* key, std::optional<std::string>& into) {
  if (find(key) == nullptr) return;
  std::string text;
  read(key, text);
  into = std::move(text);
}

void Fields::read(const char* key, std::optional<std::int64_t>& into) {
  if (find(key) == nullptr) return;
  std::int64_t number = 0;
  read(key, number);
  into = number;
}

void Fields::read(const char* key, std::vector<std::string>& into) {
  const auto* value = find(key);
  if (value == nullptr) return;
  auto out = texts_of(*value);
  if (!out) return wrong(key, "a list of strings");
  into = std::move(*out);
}

void Fields::read(const char* key, std::vector<std::vector<std::string>>& into) {
  const auto* value = find(key);
  if (value == nullptr) return;
  if (!value->is_array()) return wrong(key, "a list of lists of strings");
  std::vector<std::vector<std::string>> out;
  for (const auto& item : *value) {
    auto texts = texts_of(item);
    if (!texts) return wrong(key, "a list of lists of strings");
    out.push_back(std::move(*texts));
  }
  into = std::move(out);
}

void Fields::read(const char* key, std::vector<int>& into) {
  const auto* value = find(key);
  if (value == nullptr) return;
  if (!value->is_array()) return wrong(key, "a list of numbers");
  std::vector<int> out;
  for (const auto& item : *value) {
    if (!item.is_number_integer()) return wrong(key, "a list of numbers");
    out.push_back(item.get<int>());
  }
  into = std::move(out);
}

void Fields::read_ms(const char* key, std::int64_t& into) {
  const auto* value = find(key);
  if (value == nullptr) return;
  const double seconds = value->is_number() ? value->get<double>() : -1.0;
  // Up to the year 9999; also keeps the product inside the type.
  if (!(seconds >= 0.0 && seconds < 253402300800.0)) return wrong(key, "seconds since the epoch");
  into = std::llround(seconds * 1000.0);
}

Result<Json> parse_versioned(std::string_view text, const std::string& where) {
  auto value = Json::parse(text, nullptr, false);
  if (!value.is_object()) return fail(ErrorKind::malformed, where + ": not a JSON object");
  const auto it = value.find("v");
  if (it == value.end() || !it->is_number_integer() || it->get<std::int64_t>() != 1)
    return fail(ErrorKind::malformed,
                where + ": version " + (it == value.end() ? "missing" : dump(*it)) +
                    ", this slurm-shim knows 1");
  return value;
}

} // namespace shim::records
