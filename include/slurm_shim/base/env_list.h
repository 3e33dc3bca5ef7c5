#pragma once
// An environment as an ordered list of NAME=VALUE strings, any bytes. The last value of a name
// wins and keeps the position of the first (spec environment 7). Lookups are linear: use it for
// tens to a few hundred names, or build once.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim {

class EnvList {
public:
  EnvList() = default;
  explicit EnvList(std::vector<std::string> entries);
  // Copies an envp array (nullptr-terminated). Entries without '=' are dropped.
  static EnvList from_envp(const char* const* envp);

  // The value, or nothing when the name is not set ("" is set).
  [[nodiscard]] std::optional<std::string_view> get(std::string_view name) const;
  // The value, or `fallback` when unset or empty.
  [[nodiscard]] std::string get_or(std::string_view name, std::string_view fallback) const;
  [[nodiscard]] bool has(std::string_view name) const { return get(name).has_value(); }

  void set(std::string_view name, std::string_view value); // in place, else appended
  void set_entry(std::string entry);                       // "NAME=VALUE"
  void unset(std::string_view name);
  template <class Predicate> void unset_if(Predicate&& matches_name) {
    std::erase_if(m_entries, [&](const std::string& e) { return matches_name(name_of(e)); });
  }

  [[nodiscard]] const std::vector<std::string>& entries() const { return m_entries; }
  [[nodiscard]] std::vector<std::string> take() && { return std::move(m_entries); }
  // Pointers into this list, nullptr-terminated; valid while the list is unchanged.
  [[nodiscard]] std::vector<char*> envp();

  [[nodiscard]] static std::string_view name_of(std::string_view entry) {
    return entry.substr(0, entry.find('='));
  }
  [[nodiscard]] static std::string_view value_of(std::string_view entry) {
    const auto eq = entry.find('=');
    return eq == std::string_view::npos ? std::string_view{} : entry.substr(eq + 1);
  }

private:
  std::vector<std::string> m_entries;
};

} // namespace shim
