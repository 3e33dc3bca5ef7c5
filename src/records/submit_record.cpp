#include "slurm_shim/records/submit_record.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/records/paths.h"

#include <algorithm>

namespace shim::records {

namespace {

constexpr std::string_view k_record_version = "v1";
constexpr std::string_view k_safe = "._:/+-"; // beside letters and digits

bool is_key(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

tl::unexpected<Error> malformed(std::string why) {
  return fail(ErrorKind::malformed, "submit record: " + std::move(why));
}

} // namespace

std::optional<std::string> SubmitRecord::get(std::string_view key) const {
  const auto it = m_values.find(key);
  if (it == m_values.end()) return std::nullopt;
  return it->second;
}

std::string SubmitRecord::get_or(std::string_view key, std::string_view fallback) const {
  const auto it = m_values.find(key);
  return it == m_values.end() ? std::string(fallback) : it->second;
}

std::optional<long long> SubmitRecord::get_int(std::string_view key) const {
  const auto it = m_values.find(key);
  if (it == m_values.end()) return std::nullopt;
  return parse_int<long long>(it->second);
}

std::string SubmitRecord::encode() const {
  std::string out(k_record_version);
  const auto add = [&out](std::string_view key, std::string_view value) {
    out += ';';
    out += key;
    out += '=';
    out += percent_encode(value, k_safe);
  };
  for (const auto* first : {"tok", "dir"})
    if (const auto it = m_values.find(first); it != m_values.end()) add(first, it->second);
  for (const auto& [key, value] : m_values)
    if (key != "tok" && key != "dir") add(key, value);
  return out;
}

Result<SubmitRecord> SubmitRecord::decode(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  const auto parts = split(text, ';');
  if (parts[0] != k_record_version)
    return malformed("unknown version \"" + std::string(parts[0].substr(0, 16)) + "\"");
  SubmitRecord record;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto part = parts[i];
    if (part.empty()) continue;
    const auto eq = part.find('=');
    if (eq == std::string_view::npos) return malformed("no value in \"" + std::string(part) + "\"");
    const auto key = part.substr(0, eq);
    auto value = percent_decode(part.substr(eq + 1));
    if (!value) return malformed("bad escape in the value of \"" + std::string(key) + "\"");
    if (is_key(key)) record.m_values[std::string(key)] = std::move(*value);
  }
  // Both become parts of file names.
  if (!is_token(record.get_or("tok", ""))) return malformed("no valid \"tok\"");
  if (!record.get_or("dir", "").starts_with('/')) return malformed("no absolute \"dir\"");
  return record;
}

} // namespace shim::records
