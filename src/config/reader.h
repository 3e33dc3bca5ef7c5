#pragma once
// One value of the document with its key path: typed readers whose errors say file, line, column,
// path and what was expected.

#include "yaml_tree.h"

#include "slurm_shim/config/config.h"

#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shim::config {

class Value {
public:
  Value(const std::string& file, const YamlNode& node, std::string path, Place key_place)
      : m_file(file), m_node(node), m_path(std::move(path)), m_key_place(key_place) {}

  [[nodiscard]] const std::string& path() const { return m_path; }
  [[nodiscard]] int key_line() const { return m_key_place.line; }
  [[nodiscard]] tl::unexpected<Error> expected(std::string_view what) const;

  [[nodiscard]] Result<void> text(std::string& out) const;
  [[nodiscard]] Result<void> boolean(bool& out) const;
  [[nodiscard]] Result<void> integer(int& out, int low, int high) const;
  [[nodiscard]] Result<void> duration(milliseconds& out, bool positive) const;
  [[nodiscard]] Result<void> word(std::string& out,
                                  std::initializer_list<std::string_view> words) const;
  // A word of a table, as the enum value beside it.
  template <class T>
  [[nodiscard]] Result<void>
  choice(T& out, std::initializer_list<std::pair<std::string_view, T>> table) const {
    std::string found;
    TRY(text(found));
    std::string words;
    for (const auto& [word, value] : table) {
      if (word == found) {
        out = value;
        return {};
      }
      if (!word.empty()) words += (words.empty() ? "" : ", ") + std::string(word);
    }
    return expected("one of " + words);
  }
  [[nodiscard]] Result<void> texts(std::vector<std::string>& out) const;
  [[nodiscard]] Result<void> text_map(std::map<std::string, std::string>& out) const;
  // Minutes of a Slurm time; UNLIMITED and 0 leave it unset.
  [[nodiscard]] Result<void> minutes(std::optional<int>& out) const;

  // Calls `each(key, value)` for the entries of a map. Nothing written after the key is an empty
  // map.
  [[nodiscard]] Result<void>
  entries(const std::function<Result<void>(const std::string&, const Value&)>& each) const;
  // Elements of a list.
  [[nodiscard]] Result<void> elements(const std::function<Result<void>(const Value&)>& each) const;

  // The text of an unknown key's warning.
  [[nodiscard]] std::string unknown_key() const;

private:
  [[nodiscard]] Result<void> scalar(std::string& out, std::string_view what) const;

  const std::string& m_file;
  const YamlNode& m_node;
  std::string m_path;
  Place m_key_place; // of the key in front of it
};

} // namespace shim::config
