#include "slurm_shim/cli/parse.h"

#include "slurm_shim/base/assert.h"

#include <algorithm>
#include <utility>

namespace shim::cli {

namespace {

class Walk {
public:
  Walk(OptionTable table, const std::vector<std::string>& words, const ParseRules& rules)
      : m_table(table), m_words(words), m_rules(rules) {}

  Result<Parsed> run() {
    while (m_at < m_words.size()) {
      const std::string& word = m_words[m_at];
      m_word = m_at;
      if (word == "--") {
        ++m_at;
        break;
      }
      if (word.size() < 2 || word[0] != '-') {
        if (!m_rules.permute) break;
        m_parsed.rest.push_back(word);
        ++m_at;
        continue;
      }
      ++m_at;
      if (word[1] == '-')
        TRY(take_long(word));
      else
        TRY(take_cluster(word));
    }
    m_parsed.rest.insert(
        m_parsed.rest.end(), m_words.begin() + static_cast<std::ptrdiff_t>(m_at), m_words.end());
    return std::move(m_parsed);
  }

private:
  [[nodiscard]] tl::unexpected<Error> refuse(const std::string& text) const {
    std::string message = m_rules.command + ": " + text;
    if (m_rules.try_line)
      message += "\nTry \"" + m_rules.command + " --help\" for more information";
    return fail(ErrorKind::usage, std::move(message));
  }

  [[nodiscard]] const Option& canonical(const Option& option) const {
    if (option.alias_of.empty()) return option;
    const auto it = std::ranges::find(m_table, option.alias_of, &Option::name);
    SHIM_ASSERT(it != m_table.end());
    return *it;
  }

  void give(const Option& option, std::optional<std::string> value) {
    m_parsed.given.push_back({&canonical(option), std::move(value), {}, m_word});
  }

  // The option an exact name or a unique beginning means; nullptr: none. Two spellings of one
  // option are no ambiguity, as in getopt.
  [[nodiscard]] Result<const Option*> match(std::string_view name, const std::string& word) const {
    std::vector<const Option*> candidates;
    for (const auto& option : m_table) {
      if (option.name == name) return &option;
      if (option.name.starts_with(name)) candidates.push_back(&option);
    }
    if (candidates.empty()) return nullptr;
    const auto same = [&](const Option* o) { return &canonical(*o) == &canonical(*candidates[0]); };
    if (std::ranges::all_of(candidates, same)) return candidates[0];
    std::ranges::sort(candidates, {}, &Option::name);
    std::string text = "option '" + word + "' is ambiguous; possibilities:";
    for (const auto* option : candidates)
      text += " '--" + std::string(option->name) + "'";
    return refuse(text);
  }

  Result<void> unknown_long(const std::string& word) {
    if (!m_rules.tolerate_unknown_long) return refuse("unrecognized option '" + word + "'");
    const bool has_value = word.find('=') != std::string::npos;
    if (!has_value && m_at < m_words.size() && !m_words[m_at].starts_with('-'))
      return refuse("unrecognized option '" + word + "' (if '" + m_words[m_at] +
                    "' is its value, write '" + word + "=" + m_words[m_at] + "')");
    m_parsed.ignored.push_back(word);
    return {};
  }

  Result<void> take_long(const std::string& word) {
    const auto equals = word.find('=');
    const std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    TRY_ASSIGN(const Option* option, match(name, word));
    if (option == nullptr) return unknown_long(word);
    const std::string shown = "'--" + std::string(option->name) + "'";
    if (equals != std::string::npos) {
      if (option->arity == Arity::none)
        return refuse("option " + shown + " doesn't allow an argument");
      give(*option, word.substr(equals + 1));
      return {};
    }
    if (option->arity != Arity::required) {
      give(*option, std::nullopt);
      return {};
    }
    if (m_at == m_words.size()) return refuse("option " + shown + " requires an argument");
    give(*option, m_words[m_at++]);
    return {};
  }

  Result<void> take_cluster(const std::string& word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const char letter = word[i];
      const auto it = std::ranges::find(m_table, letter, &Option::letter);
      if (letter == 0 || it == m_table.end())
        return refuse(std::string("invalid option -- '") + letter + "'");
      if (it->arity == Arity::none) {
        give(*it, std::nullopt);
        continue;
      }
      const bool attached = i + 1 < word.size();
      if (!attached && it->arity == Arity::optional)
        give(*it, std::nullopt);
      else if (attached)
        give(*it, word.substr(i + 1));
      else if (m_at < m_words.size())
        give(*it, m_words[m_at++]);
      else
        return refuse(std::string("option requires an argument -- '") + letter + "'");
      return {};
    }
    return {};
  }

  OptionTable m_table;
  const std::vector<std::string>& m_words;
  const ParseRules& m_rules;
  std::size_t m_at = 0;
  std::size_t m_word = 0; // the word being looked at
  Parsed m_parsed;
};

} // namespace

const Given* Parsed::last(std::string_view long_name) const {
  for (auto it = given.rbegin(); it != given.rend(); ++it)
    if (it->option->name == long_name) return &*it;
  return nullptr;
}

Result<Parsed>
parse(OptionTable table, const std::vector<std::string>& words, const ParseRules& rules) {
  return Walk(table, words, rules).run();
}

std::string
value_of(const Parsed& parsed, OptionTable table, const EnvList& env, std::string_view long_name) {
  if (const auto* given = parsed.last(long_name)) return given->value.value_or("");
  const auto row = std::find_if(
      table.begin(), table.end(), [&](const Option& option) { return option.name == long_name; });
  return row == table.end() || row->env.empty() ? "" : env.get_or(row->env, "");
}

} // namespace shim::cli
