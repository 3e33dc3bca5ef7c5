#pragma once
// The submit record (SLURM_SHIM_REQ): what sbatch was asked for, as it travels to the PE hook.
// Format `v1;key=value;...`. Spec job-files 2, keys sbatch-translate 10. Pure.

#include "slurm_shim/base/result.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace shim::records {

inline constexpr std::size_t k_max_variable_bytes = 8000; // Grid Engine cuts at 9,995

// Keys are [a-z]+; values any bytes. Typed access is the reader's business.
class SubmitRecord {
public:
  void set(std::string_view key, std::string_view value) { m_values[std::string(key)] = value; }
  void set_int(std::string_view key, long long value) { set(key, std::to_string(value)); }
  [[nodiscard]] std::optional<std::string> get(std::string_view key) const;
  [[nodiscard]] std::string get_or(std::string_view key, std::string_view fallback) const;
  [[nodiscard]] std::optional<long long> get_int(std::string_view key) const; // absent or no number
  [[nodiscard]] bool has(std::string_view key) const { return get(key).has_value(); }
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& values() const {
    return m_values;
  }
  // The full text, whatever its length; tok and dir come first.
  [[nodiscard]] std::string encode() const;
  // Errors (ErrorKind::malformed): another version, bad escape, missing tok or dir.
  [[nodiscard]] static Result<SubmitRecord> decode(std::string_view text);

private:
  std::map<std::string, std::string, std::less<>> m_values;
};

} // namespace shim::records
