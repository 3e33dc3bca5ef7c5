#include "columns.h"

#include "slurm_shim/base/strings.h"

#include <algorithm>

namespace shim::commands::squeue {

namespace {

constexpr std::size_t k_max_width = 4096;
constexpr std::size_t k_long_width = 20; // of -O without a width

// A number at the beginning of `text`, which loses it.
std::size_t take_width(std::string_view& text) {
  std::size_t width = 0;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    width = std::min(k_max_width, width * 10 + static_cast<std::size_t>(text.front() - '0'));
    text.remove_prefix(1);
  }
  return width;
}

bool take_dot(std::string_view& text) {
  if (!text.starts_with('.')) return false;
  text.remove_prefix(1);
  return true;
}

template <class Key> bool find(Key key, Rows rows, Column& column) {
  if (rows == Rows::jobs)
    column.field = find_field(key);
  else
    column.step = find_step_field(key);
  return column.field != nullptr || column.step != nullptr;
}

std::string complaint(Rows rows, std::string_view what) {
  return (rows == Rows::jobs ? "Invalid job format specification: "
                             : "Invalid job step format specification: ") +
         std::string(what);
}

// Brings what was appended from `begin` on to the column's width.
void fit(const Column& column, bool whole, std::size_t begin, std::string& out) {
  if (column.width == 0) return;
  const auto size = out.size() - begin;
  if (size > column.width && !(column.right && whole))
    out.resize(begin + column.width);
  else if (size < column.width)
    out.insert(column.right ? begin : out.size(), column.width - size, ' ');
}

template <class Append> void append_cells(const Format& format, std::string& out, Append&& value) {
  for (const auto& column : format.columns) {
    out += column.before;
    const auto begin = out.size();
    if (column.field != nullptr || column.step != nullptr) fit(column, value(column), begin, out);
    out += column.after;
  }
  out += '\n';
}

} // namespace

bool Format::needs_facts() const {
  return std::ranges::any_of(columns, [](const Column& column) {
    return column.field != nullptr && squeue::needs_facts(*column.field);
  });
}

Format parse_format(std::string_view text, Rows rows) {
  Format format;
  const auto parts = split(text, '%');
  if (!parts.front().empty()) {
    Column literal;
    literal.before = parts.front();
    format.columns.push_back(std::move(literal));
  }
  for (std::size_t i = 1; i < parts.size(); ++i) {
    auto part = parts[i];
    if (part.empty()) continue;
    Column column;
    column.right = take_dot(part);
    column.width = take_width(part);
    if (part.empty()) continue;
    column.after = part.substr(1);
    if (!find(part.front(), rows, column)) {
      format.errors.push_back(complaint(rows, part.substr(0, 1)));
      column.before = std::string("%") + part.front();
    }
    format.columns.push_back(std::move(column));
  }
  return format;
}

Format parse_long_format(std::string_view text, Rows rows) {
  Format format;
  for (const auto part : split(text, ',')) {
    if (part.empty()) continue;
    const auto colon = part.find(':');
    const auto name = part.substr(0, colon);
    Column column;
    column.width = k_long_width;
    if (colon != std::string_view::npos) {
      auto rest = part.substr(colon + 1);
      column.right = take_dot(rest);
      column.width = take_width(rest);
      column.after = rest;
      if (column.width == 0 && rest.empty()) column.width = k_long_width;
    }
    if (find(name, rows, column))
      format.columns.push_back(std::move(column));
    else
      format.errors.push_back(complaint(rows, name));
  }
  return format;
}

void append_header(const Format& format, std::string& out) {
  append_cells(format, out, [&](const Column& column) {
    out += column.field != nullptr ? column.field->header : column.step->header;
    return column.field != nullptr && keeps_whole_header(*column.field);
  });
}

void append_line(const Format& format,
                 const queue::Job& job,
                 const Setting& setting,
                 std::string& out) {
  append_cells(format, out, [&](const Column& column) {
    if (column.field == nullptr) return false;
    append_value(*column.field, job, setting, out);
    return keeps_whole_value(*column.field);
  });
}

void append_line(const Format& format,
                 const queue::Step& step,
                 const Setting& setting,
                 std::string& out) {
  append_cells(format, out, [&](const Column& column) {
    if (column.step == nullptr) return false;
    append_value(*column.step, step, setting, out);
    return keeps_whole_value(*column.step);
  });
}

} // namespace shim::commands::squeue
