#include "slurm_shim/base/strings.h"
#include "slurm_shim/manual/documents.h"

#include <algorithm>
#include <array>

namespace shim::manual {

namespace {

using cli::Support;

struct Level {
  Support support;
  std::string_view name, meaning;
};
constexpr std::array k_levels{
    Level{Support::full, "works", "does what Slurm does"},
    Level{Support::approximate, "with limits", "works as far as the note says"},
    Level{Support::accepted, "accepted", "nothing is left to do here; silently fine"},
    Level{Support::later, "no effect", "accepted, and one warning says that it does nothing"},
    Level{Support::rejected, "refused", "an error, because ignoring it would mislead"},
};

const Level& level_of(Support support) {
  return *std::ranges::find(k_levels, support, &Level::support);
}

// A table's cell: bars would end it, stars and angle brackets would be markup.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : unfolded(text)) {
    if (c == '|' || c == '<' || c == '*') out += '\\';
    out += c;
  }
  return out;
}

// In a code span of a table only the bar needs care.
std::string code(std::string_view text) {
  std::string out = "`";
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out + "`";
}

std::string spelled(const cli::Option& row) {
  std::string text = "--" + std::string(row.name);
  if (row.arity == cli::Arity::required) text += "=" + std::string(row.metavar);
  if (row.arity == cli::Arity::optional) text += "[=" + std::string(row.metavar) + "]";
  return (row.letter != 0 ? code(std::string("-") + row.letter) + " " : std::string()) + code(text);
}

std::string line_of(const cli::Option& row) {
  if (!row.alias_of.empty())
    return "| " + spelled(row) + " | | the same as " + code("--" + std::string(row.alias_of)) +
           " |\n";
  std::string what = cell(row.help);
  const auto add = [&](const std::string& text) {
    if (!what.empty()) what += "; ";
    what += text;
  };
  if (!row.maps_to.empty()) add("becomes " + code(row.maps_to));
  if (!row.note.empty()) add("*" + cell(row.note) + "*");
  return "| " + spelled(row) + " | " + std::string(level_of(row.support).name) + " | " + what +
         " |\n";
}

// Other spellings are shown although --help leaves them out; what srun and sbcast say to each other
// is not.
bool is_shown(const cli::Option& row) {
  return !row.hidden || !row.alias_of.empty();
}

std::string counts_line(const Topic& topic) {
  std::string out = "| [" + topic.name + "](#" + topic.name + ")";
  for (const auto& level : k_levels)
    out += " | " + std::to_string(std::ranges::count_if(topic.options, [&](const auto& row) {
             return is_shown(row) && row.support == level.support && row.alias_of.empty();
           }));
  return out + " |\n";
}

} // namespace

std::string unfolded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n';
    if (!blank)
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  while (out.ends_with(' '))
    out.pop_back();
  return out;
}

std::string_view limit_of(Support support) {
  return support == Support::full ? std::string_view{} : level_of(support).name;
}

std::string compatibility(const std::vector<Topic>& topics) {
  std::string out = "# Compatibility\n\n"
                    "<!-- Made from the option tables in src/commands/*/options.cpp by `make "
                    "docs`; a test fails\n"
                    "     when it is not what they say. Change the tables, not this page. -->\n\n"
                    "Every option that Slurm's commands know, and what it does here.\n\n"
                    "| word | meaning |\n|---|---|\n";
  for (const auto& level : k_levels)
    out += "| " + std::string(level.name) + " | " + std::string(level.meaning) + " |\n";
  out += "\nHow many of each:\n\n| command |";
  for (const auto& level : k_levels)
    out += " " + std::string(level.name) + " |";
  out += "\n|---|---|---|---|---|---|\n";
  for (const auto& topic : topics)
    if (topic.section == 1) out += counts_line(topic);
  for (const auto& topic : topics) {
    if (topic.section != 1) continue;
    out += "\n## " + topic.name + "\n\n" + topic.summary +
           "\n\n| option | here | what it does |\n" + "|---|---|---|\n";
    for (const auto& row : topic.options)
      if (is_shown(row)) out += line_of(row);
  }
  return out;
}

} // namespace shim::manual
