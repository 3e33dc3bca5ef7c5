#include "grid.h"

#include "slurm_shim/base/strings.h"

#include <algorithm>
#include <cstdlib>

namespace shim::commands::probes {

namespace {

std::string padded(std::string text, const Chosen& column, bool mark) {
  const auto width = static_cast<std::size_t>(column.width);
  if (text.size() > width) {
    text.resize(width);
    if (mark && !text.empty()) text.back() = '+';
  }
  const std::string blanks(width - text.size(), ' ');
  return column.left ? text + blanks + " " : blanks + text + " ";
}

} // namespace

Result<std::vector<Chosen>> choose(std::span<const Column> columns, std::string_view fields) {
  std::vector<Chosen> chosen;
  if (trim(fields).empty())
    for (const auto& column : columns)
      chosen.push_back({column.name, column.width, column.left});
  for (const auto word : split(fields, ',')) {
    const auto field = trim(word);
    if (field.empty()) continue;
    const auto name = field.substr(0, field.find('%'));
    const auto it = std::ranges::find_if(
        columns, [&](const Column& column) { return equals_ignore_case(column.name, name); });
    if (it == columns.end())
      return fail(ErrorKind::usage, "Invalid field requested: \"" + std::string(name) + "\"");
    Chosen choice{it->name, it->width, it->left};
    if (name.size() < field.size()) {
      const auto width = parse_int<int>(field.substr(name.size() + 1)).value_or(0);
      if (width != 0) {
        choice.width = std::min(std::abs(width), 100'000);
        choice.left = width < 0;
      }
    }
    chosen.push_back(choice);
  }
  return chosen;
}

Style style_of(const cli::Parsed& parsed) {
  Style style;
  style.header = !parsed.has("noheader");
  for (const auto& given : parsed.given) {
    if (given.option->name == "parsable") style.kind = Style::Kind::ends_in;
    if (given.option->name == "parsable2") style.kind = Style::Kind::between;
  }
  return style;
}

std::string header_of(const std::vector<Chosen>& columns, const Style& style) {
  if (!style.header) return {};
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const auto& column : columns)
    names.emplace_back(column.name);
  if (style.kind != Style::Kind::table) return line_of(columns, style, names);
  std::string out;
  for (const auto& column : columns)
    out += padded(std::string(column.name), column, false);
  out += "\n";
  for (const auto& column : columns)
    out += std::string(static_cast<std::size_t>(column.width), '-') + " ";
  return out + "\n";
}

std::string line_of(const std::vector<Chosen>& columns,
                    const Style& style,
                    const std::vector<std::string>& values) {
  if (style.kind == Style::Kind::between) return join(values, style.delimiter) + "\n";
  std::string out;
  for (std::size_t i = 0; i < columns.size() && i < values.size(); ++i)
    out += style.kind == Style::Kind::ends_in ? values[i] + style.delimiter
                                              : padded(values[i], columns[i], true);
  return out + "\n";
}

} // namespace shim::commands::probes
