#include "lexer.h"

#include "slurm_shim/slurm/exit_codes.h"

#include <optional>

namespace shim::commands::sbatch {

namespace {

// isspace of the C locale: a lone carriage return separates words too.
constexpr std::string_view k_blanks = " \t\r\v\f";

bool is_blank(char c) {
  return k_blanks.find(c) != std::string_view::npos;
}

// Takes one word from the front of `rest`. Nothing: end of line or a comment. The unmatched quote
// character is left in `open_quote`.
std::optional<std::string> take_word(std::string_view& rest, char& open_quote) {
  if (rest.empty() || rest.front() == '#') return std::nullopt;
  std::string word;
  char quote = 0;
  std::size_t at = 0;
  for (; at < rest.size(); ++at) {
    const char c = rest[at];
    if (c == '\\' && quote != '\'' && at + 1 < rest.size()) {
      word += rest[++at];
    } else if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (is_blank(c)) {
      break;
    } else {
      word += c;
    }
  }
  open_quote = quote;
  rest.remove_prefix(at);
  return word;
}

void skip_blanks(std::string_view& rest) {
  while (!rest.empty() && is_blank(rest.front()))
    rest.remove_prefix(1);
}

Result<void> split_line(std::string_view rest,
                        int line,
                        const std::string& script_name,
                        std::vector<DirectiveWord>& words) {
  for (;;) {
    skip_blanks(rest);
    const std::string_view from_here = rest;
    char open_quote = 0;
    auto word = take_word(rest, open_quote);
    if (open_quote != 0)
      return fail(ErrorKind::usage,
                  "sbatch: fatal: " + script_name + ": line " + std::to_string(line) +
                      ": Unmatched `" + open_quote + "` in [" + std::string(from_here) + "]",
                  slurm::k_exit_failure);
    if (!word) return {};
    words.push_back({std::move(*word), line});
  }
}

// Blank lines and comments do not end the scan, anything else is the first command.
bool is_command(std::string_view line) {
  skip_blanks(line);
  return !line.empty() && line.front() != '#';
}

} // namespace

Result<std::vector<DirectiveWord>>
read_directives(std::string_view script, std::string_view marker, const std::string& script_name) {
  std::vector<DirectiveWord> words;
  int number = 0;
  while (!script.empty()) {
    const auto end = script.find('\n');
    const auto line = script.substr(0, end);
    script.remove_prefix(end == std::string_view::npos ? script.size() : end + 1);
    ++number;
    if (line.starts_with(marker))
      TRY(split_line(line.substr(marker.size()), number, script_name, words));
    else if (is_command(line))
      break;
  }
  return words;
}

} // namespace shim::commands::sbatch
