#include "slurm_shim/cli/help.h"

#include <algorithm>

namespace shim::cli {

namespace {

constexpr std::size_t k_help_column = 32;
constexpr std::size_t k_width = 80;

std::string long_form(const Option& option) {
  std::string text = "--" + std::string(option.name);
  if (option.arity == Arity::required) text += "=" + std::string(option.metavar);
  if (option.arity == Arity::optional) text += "[=" + std::string(option.metavar) + "]";
  return text;
}

std::string entry(const Option& option) {
  std::string line = "  ";
  line += option.letter != 0 ? std::string("-") + option.letter + ", " : std::string("    ");
  line += long_form(option);
  if (line.size() + 1 < k_help_column)
    line.resize(k_help_column, ' ');
  else
    line += "\n" + std::string(k_help_column, ' ');
  line += option.help;
  const std::string indent = "\n" + std::string(k_help_column, ' ');
  if (option.support == Support::later)
    line += indent + "(no effect: " + std::string(option.note) + ")";
  if (option.support == Support::rejected)
    line += indent + "(refused: " + std::string(option.note) + ")";
  if (option.support == Support::approximate) line += indent + "(" + std::string(option.note) + ")";
  if (option.support == Support::accepted) line += indent + "(accepted, changes nothing here)";
  return line + "\n";
}

std::string told(const Option& option) {
  return "option '--" + std::string(option.name) + "' has no effect: " + std::string(option.note);
}

std::string told(const std::string& word) {
  return "unrecognized option '" + word + "' ignored";
}

} // namespace

std::string help_text(OptionTable table, const HelpFrame& frame) {
  std::string text = "Usage: " + std::string(frame.synopsis) + "\n\n";
  if (!frame.description.empty()) text += std::string(frame.description) + "\n\n";
  text += "Options:\n";
  for (const auto& option : table)
    if (!option.hidden) text += entry(option);
  if (!frame.epilogue.empty()) text += "\n" + std::string(frame.epilogue) + "\n";
  return text;
}

std::string usage_text(OptionTable table, const HelpFrame& frame) {
  constexpr std::string_view k_places = "[OPTIONS...]";
  const auto place = frame.synopsis.find(k_places);
  std::string line = "Usage: " + std::string(frame.synopsis.substr(0, place));
  std::string text;
  const auto add = [&](const std::string& word) {
    if (line.size() + 1 + word.size() > k_width) {
      text += line + "\n";
      line = std::string(7, ' ');
    }
    if (!line.ends_with(' ')) line += ' ';
    line += word;
  };
  for (const auto& option : table)
    if (!option.hidden)
      add("[" + (option.letter != 0 ? std::string("-") + option.letter + "|" : std::string()) +
          long_form(option) + "]");
  if (place != std::string_view::npos) {
    const auto rest = frame.synopsis.substr(place + k_places.size());
    if (!rest.empty()) add(std::string(rest.substr(rest.find_first_not_of(' '))));
  }
  return text + line + "\n";
}

std::vector<std::string> warnings_of(const Parsed& parsed) {
  std::vector<std::string> lines;
  std::vector<const Option*> seen;
  for (const auto& given : parsed.given) {
    if (given.option->support != Support::later || std::ranges::count(seen, given.option) != 0)
      continue;
    seen.push_back(given.option);
    lines.push_back(told(*given.option));
  }
  for (const auto& word : parsed.ignored)
    lines.push_back(told(word));
  return lines;
}

Result<void> refuse_unsupported(const Parsed& parsed, bool strict) {
  for (const auto& given : parsed.given)
    if (given.option->support == Support::rejected)
      return fail(ErrorKind::usage,
                  "option '--" + std::string(given.option->name) +
                      "' is not supported: " + std::string(given.option->note));
  if (!strict) return {};
  if (const auto lines = warnings_of(parsed); !lines.empty())
    return fail(ErrorKind::usage, lines.front() + " (strict_flags)");
  return {};
}

} // namespace shim::cli
