#pragma once
// Building the argument vectors of qsub and qrsh. Private to ge.

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/qsub.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shim::ge {

class Args {
public:
  void add(std::string_view word) { m_words.emplace_back(word); }
  void option(std::string_view name, std::string_view value) {
    if (value.empty()) return;
    add(name);
    add(value);
  }
  void list(std::string_view name, const std::vector<std::string>& values) {
    option(name, join(values, ","));
  }
  void pairs(std::string_view name, const std::vector<std::pair<std::string, std::string>>& pairs) {
    std::vector<std::string> items;
    items.reserve(pairs.size());
    for (const auto& [key, value] : pairs)
      items.push_back(value.empty() ? key : key + "=" + value);
    list(name, items);
  }
  [[nodiscard]] std::vector<std::string> take() && { return std::move(m_words); }
  void append(const std::vector<std::string>& words) {
    m_words.insert(m_words.end(), words.begin(), words.end());
  }

private:
  std::vector<std::string> m_words;
};

// What qsub and qrsh spell alike.
void add_verify(const QsubRequest& r, Args& args);
void add_placement(const QsubRequest& r, Args& args);
void add_accounts(const QsubRequest& r, Args& args); // account to mail
void add_needs(const QsubRequest& r, Args& args);    // context to resources
void add_scopes(const QsubRequest& r, Args& args);   // last: a scope stays in force

} // namespace shim::ge
