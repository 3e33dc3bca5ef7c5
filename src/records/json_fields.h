#pragma once
// Reading and writing the JSON of the job files without exceptions: typed fields with defaults, the
// first wrong one is remembered with its name. Private to records.

#include "slurm_shim/base/result.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::records {

using Json = nlohmann::ordered_json;

// A string, or {"b64": ...} for bytes that are not UTF-8.
[[nodiscard]] Json exact_text(std::string_view bytes);
// One line without LF; bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string dump(const Json& value);

// Fields of one object. Missing and null leave the target as it is.
class Fields {
public:
  // `object` must outlive this.
  Fields(const Json& object, std::string where) : m_object(object), m_where(std::move(where)) {}
  void read(const char* key, std::string& into);
  void read(const char* key, bool& into);
  void read(const char* key, int& into);
  void read(const char* key, std::int64_t& into);
  void read(const char* key, std::optional<std::string>& into);
  void read(const char* key, std::optional<std::int64_t>& into);
  void read(const char* key, std::vector<std::string>& into);
  void read(const char* key, std::vector<int>& into);
  void read(const char* key, std::vector<std::vector<std::string>>& into);
  void read_ms(const char* key, std::int64_t& into);     // seconds, perhaps with a fraction
  void require(const char* key);                         // there and not null
  [[nodiscard]] const Json* find(const char* key) const; // nullptr: missing or null
  void wrong(const char* key, std::string_view expected);
  [[nodiscard]] Result<void> finish() const;

private:
  const Json& m_object;
  std::string m_where;
  std::string m_error;
};

// An object with "v": 1, or an error that names `where`.
[[nodiscard]] Result<Json> parse_versioned(std::string_view text, const std::string& where);

} // namespace shim::records
