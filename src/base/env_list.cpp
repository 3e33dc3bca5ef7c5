#include "slurm_shim/base/env_list.h"

#include <algorithm>
#include <unordered_map>

namespace shim {

EnvList::EnvList(std::vector<std::string> entries) {
  std::unordered_map<std::string, std::size_t> position;
  for (auto& entry : entries) {
    if (entry.find('=') == std::string::npos) continue;
    const auto [it, is_new] = position.try_emplace(std::string(name_of(entry)), m_entries.size());
    if (is_new)
      m_entries.push_back(std::move(entry));
    else
      m_entries[it->second] = std::move(entry);
  }
}

EnvList EnvList::from_envp(const char* const* envp) {
  std::vector<std::string> entries;
  for (; envp != nullptr && *envp != nullptr; ++envp)
    entries.emplace_back(*envp);
  return EnvList(std::move(entries));
}

std::optional<std::string_view> EnvList::get(std::string_view name) const {
  for (const auto& entry : m_entries)
    if (name_of(entry) == name) return value_of(entry);
  return std::nullopt;
}

std::string EnvList::get_or(std::string_view name, std::string_view fallback) const {
  const auto value = get(name);
  return std::string(value && !value->empty() ? *value : fallback);
}

void EnvList::set(std::string_view name, std::string_view value) {
  std::string entry(name);
  entry += '=';
  entry += value;
  set_entry(std::move(entry));
}

void EnvList::set_entry(std::string entry) {
  const auto name = name_of(entry);
  const auto it = std::find_if(
      m_entries.begin(), m_entries.end(), [&](const std::string& e) { return name_of(e) == name; });
  if (it != m_entries.end())
    *it = std::move(entry);
  else
    m_entries.push_back(std::move(entry));
}

void EnvList::unset(std::string_view name) {
  std::erase_if(m_entries, [&](const std::string& e) { return name_of(e) == name; });
}

std::vector<char*> EnvList::envp() {
  std::vector<char*> out;
  out.reserve(m_entries.size() + 1);
  for (auto& entry : m_entries)
    out.push_back(entry.data());
  out.push_back(nullptr);
  return out;
}

} // namespace shim
