#include "table.h"

namespace shim::commands::sacct {

namespace {

void put(const Request& request, bool first, const std::string& text, std::string& out) {
  if (request.style == Request::Style::between && !first) out += request.delimiter;
  out += text;
  if (request.style == Request::Style::ends_in) out += request.delimiter;
}

std::string padded(std::string text, const Chosen& column) {
  const auto width = static_cast<std::size_t>(column.width);
  if (text.size() > width) text.resize(width);
  const std::string blanks(width - text.size(), ' ');
  return column.left ? text + blanks + " " : blanks + text + " ";
}

// A value that is too long ends in '+'.
std::string cell(std::string text, const Chosen& column) {
  const auto width = static_cast<std::size_t>(column.width);
  if (text.size() > width) {
    text.resize(width);
    if (!text.empty()) text.back() = '+';
  }
  return padded(std::move(text), column);
}

} // namespace

std::string header(const Request& request, const std::vector<Chosen>& columns) {
  std::string out;
  bool first = true;
  for (const auto& column : columns) {
    if (request.style == Request::Style::table)
      out += padded(std::string(column.column->name), column);
    else
      put(request, first, std::string(column.column->name), out);
    first = false;
  }
  out += "\n";
  if (request.style != Request::Style::table) return out;
  for (const auto& column : columns)
    out += std::string(static_cast<std::size_t>(column.width), '-') + " ";
  return out + "\n";
}

std::string line(const Request& request, const std::vector<Chosen>& columns, const Row& row) {
  std::string out;
  bool first = true;
  for (const auto& column : columns) {
    auto text = column.column->value(row);
    if (request.style == Request::Style::table)
      out += cell(std::move(text), column);
    else
      put(request, first, text, out);
    first = false;
  }
  return out + "\n";
}

} // namespace shim::commands::sacct
