#include "lexer.h"

#include "slurm_shim/base/strings.h"
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

// The word that ends the here-document which begins on this line; "" = none does.
std::string_view here_document(std::string_view line) {
  constexpr std::string_view k_around = " \t-'\"\\";
  auto at = line.find("<<");
  if (at == std::string_view::npos || line.substr(at).starts_with("<<<")) return {};
  line.remove_prefix(at + 2);
  at = line.find_first_not_of(k_around);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at);
  return line.substr(0, line.find_first_of(" \t'\";|&)<>"));
}

// Takes one line off the text.
std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  const auto line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

} // namespace

std::vector<int> late_directives(std::string_view script, std::string_view marker) {
  std::vector<int> lines;
  std::string_view document; // its last line
  bool commands = false;
  for (int number = 1; !script.empty(); ++number) {
    const auto line = take_line(script);
    if (!document.empty()) {
      if (trim(line) == document) document = {};
      continue;
    }
    if (!line.starts_with(marker)) {
      commands = commands || is_command(line);
      if (is_command(line)) document = here_document(line);
      continue;
    }
    const auto rest = line.substr(marker.size());
    if (commands && (rest.starts_with(' ') || rest.starts_with('\t'))) lines.push_back(number);
  }
  return lines;
}

Result<std::vector<DirectiveWord>>
read_directives(std::string_view script, std::string_view marker, const std::string& script_name) {
  std::vector<DirectiveWord> words;
  int number = 0;
  while (!script.empty()) {
    const auto line = take_line(script);
    ++number;
    if (line.starts_with(marker))
      TRY(split_line(line.substr(marker.size()), number, script_name, words));
    else if (is_command(line))
      break;
  }
  return words;
}

} // namespace shim::commands::sbatch
