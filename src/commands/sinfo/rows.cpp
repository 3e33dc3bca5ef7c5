#include "rows.h"

#include "columns.h"

#include "slurm_shim/base/strings.h"

#include <climits>

#include <algorithm>
#include <cstdlib>
#include <map>

namespace shim::commands::sinfo {

namespace {

const Column* column_of(char letter) {
  for (const auto& column : columns())
    if (letter != 0 && column.letter == letter) return &column;
  return nullptr;
}

const Column* column_of(std::string_view name) {
  for (const auto& column : columns())
    if (equals_ignore_case(column.name, name)) return &column;
  return nullptr;
}

// One "%..." without its percent sign: "[.][width]letter[rest]".
Field parse_field(std::string_view token, bool layout, Format& format) {
  const auto whole = token;
  Field field;
  if (!token.empty() && token.front() == '.') {
    field.right = true;
    token.remove_prefix(1);
  }
  if (layout && token.starts_with('#')) {
    field.fits = true;
    token.remove_prefix(1);
  }
  std::size_t digits = 0;
  while (digits < token.size() && token[digits] >= '0' && token[digits] <= '9')
    ++digits;
  field.width = parse_int<int>(token.substr(0, digits)).value_or(0);
  token.remove_prefix(digits);
  const char letter = token.empty() ? '\0' : token.front();
  field.column = column_of(letter);
  if (field.column == nullptr) {
    format.errors.push_back("Invalid node format specification: " + std::string(1, letter));
    field.suffix = "%" + std::string(whole);
    return field;
  }
  field.suffix = token.substr(1);
  return field;
}

std::string cell(const Field& field, std::string text, bool header) {
  const auto width = static_cast<std::size_t>(std::max(0, field.width));
  if (width == 0) return text + field.suffix;
  if (text.size() > width && !(header && field.right && field.column->letter == 'N')) {
    // The mark of the default partition is kept when the name is cut.
    const bool starred = !header && field.column->letter == 'P' && text.ends_with('*');
    text.resize(width);
    if (starred) text.back() = '*';
  }
  const std::string blanks(width > text.size() ? width - text.size() : 0, ' ');
  return (field.right ? blanks + text : text + blanks) + field.suffix;
}

// `-O All`, `-o %all`: every letter, small ones first, as they come.
Format everything() {
  Format format;
  for (const bool small : {true, false})
    for (const auto& column : columns()) {
      const bool is_small = column.letter >= 'a' && column.letter <= 'z';
      if (column.letter == 0 || is_small != small) continue;
      Field field;
      field.column = &column;
      field.suffix = small ? "|" : " |";
      format.fields.push_back(std::move(field));
    }
  return format;
}

bool named(const std::vector<std::string>& names, const std::string& node) {
  return std::ranges::any_of(names, [&](const std::string& name) {
    return name == node || name == node.substr(0, node.find('.'));
  });
}

bool keeps(const Filter& filter, const cluster::Node& node, const cluster::View& view) {
  if (filter.by_node && !named(filter.nodes, node.name)) return false;
  if (filter.responding && !view.responding) return false;
  if (filter.dead && view.responding) return false;
  if (filter.reasons && node.reason.empty()) return false;
  return !filter.by_state || std::ranges::any_of(filter.states, [&](const std::string& words) {
    return std::ranges::all_of(split(words, '&'), [&](std::string_view word) {
      return trim(word) == "all" || cluster::state_matches(trim(word), view).value_or(false);
    });
  });
}

std::string key_of(const Format& format, const Filter& filter, const Row& row) {
  std::string key;
  for (const auto& field : format.fields) {
    if (field.column == nullptr) continue;
    const bool splits = field.column->splits == Column::Splits::always ||
                        (field.column->splits == Column::Splits::exact && filter.exact);
    if (splits) key += field.column->value(row) + '\n';
  }
  // -N shows a node once for each partition where the line tells which one.
  if (filter.each_node) key += row.members.front().node->name + '\n' + row.partition->name;
  return key;
}

bool tells_partition(const Format& format) {
  return uses(format, "PRalLghpsSr");
}

} // namespace

bool uses(const Format& format, std::string_view letters) {
  return std::ranges::any_of(format.fields, [&](const Field& field) {
    return field.column != nullptr && field.column->letter != 0 &&
           letters.find(field.column->letter) != std::string_view::npos;
  });
}

namespace {

Format parse(std::string_view text, bool layout) {
  Format format;
  const auto percent = text.find('%');
  if (percent != 0) {
    Field head;
    head.suffix = text.substr(0, percent);
    format.fields.push_back(std::move(head));
  }
  if (percent == std::string_view::npos) return format;
  for (const auto token : split(text.substr(percent), '%'))
    if (!token.empty()) format.fields.push_back(parse_field(token, layout, format));
  return format;
}

} // namespace

Format parse_format(std::string_view text) {
  if (equals_ignore_case(text, "%all")) return everything();
  return parse(text, false);
}

Format parse_layout(std::string_view text) {
  return parse(text, true);
}

void fit(Format& format, const std::vector<Row>& rows) {
  constexpr std::size_t k_least = 9;
  for (auto& field : format.fields) {
    if (!field.fits) continue;
    auto width = k_least;
    for (const auto& row : rows)
      width = std::max(width, field.column->value(row).size());
    field.width = static_cast<int>(width);
  }
}

Format parse_long_format(std::string_view text) {
  constexpr int k_width = 20;
  Format format;
  if (equals_ignore_case(trim(text), "all")) return everything();
  for (const auto word : split(text, ',')) {
    const auto colon = word.find(':');
    const auto name = trim(word.substr(0, colon));
    Field field;
    field.column = column_of(name);
    if (field.column == nullptr) {
      format.errors.push_back("Invalid job format specification: " + std::string(name));
      continue;
    }
    field.width = k_width;
    if (colon != std::string_view::npos) {
      auto width = word.substr(colon + 1);
      if (width.starts_with('.')) {
        field.right = true;
        width.remove_prefix(1);
      }
      std::size_t digits = 0;
      while (digits < width.size() && width[digits] >= '0' && width[digits] <= '9')
        ++digits;
      field.width = parse_int<int>(width.substr(0, digits)).value_or(0);
      field.suffix = width.substr(digits);
    }
    format.fields.push_back(std::move(field));
  }
  return format;
}

std::vector<Row>
make_rows(const cluster::Cluster& cluster, const Format& format, const Filter& filter) {
  std::vector<Row> rows;
  std::map<std::string, std::size_t> place;
  std::size_t order = 0;
  for (const auto& partition : cluster.partitions) {
    const auto number = order++;
    if (!filter.partitions.empty() &&
        std::ranges::find(filter.partitions, partition.name) == filter.partitions.end())
      continue;
    bool any = false;
    for (const auto& [index, view] : partition.nodes) {
      const auto& node = cluster.nodes[index];
      if (!keeps(filter, node, view)) continue;
      any = true;
      Row single{&partition, number, {{&node, &view}}};
      const auto [it, fresh] = place.try_emplace(key_of(format, filter, single), rows.size());
      if (fresh) {
        rows.push_back(std::move(single));
        continue;
      }
      auto& members = rows[it->second].members;
      if (std::ranges::find(members, &node, &Member::node) == members.end())
        members.push_back({&node, &view});
    }
    if (!any && !filter.each_node && !filter.reasons && tells_partition(format))
      rows.push_back({&partition, number, {}});
  }
  return rows;
}

namespace {

// Values of a column that begin with a number, "16000+" or "1/15/0/16", go by it.
int compare_values(char letter, const std::string& a, const std::string& b) {
  constexpr std::string_view k_numbers = "ACFIOXYZcdempwz";
  if (k_numbers.find(letter) == std::string_view::npos) return a.compare(b);
  char* end_a = nullptr;
  char* end_b = nullptr;
  const double first = std::strtod(a.c_str(), &end_a);
  const double second = std::strtod(b.c_str(), &end_b);
  if (end_a == a.c_str() || end_b == b.c_str() || first == second) return a.compare(b);
  return first < second ? -1 : 1;
}

// No limit is the longest.
int compare_limits(const Row& a, const Row& b) {
  const auto limit = [](const Row& row) {
    return row.partition == nullptr ? INT_MAX : row.partition->max_time_min.value_or(INT_MAX);
  };
  return limit(a) < limit(b) ? -1 : limit(b) < limit(a);
}

} // namespace

void sort_rows(std::vector<Row>& rows, std::string_view keys) {
  struct Key {
    char letter;
    bool by_order, descending;
  };
  std::vector<Key> order;
  for (auto word : split(keys, ',')) {
    Key key{0, false, false};
    while (!word.empty() && (word.front() == '+' || word.front() == '-' || word.front() == '#')) {
      key.descending = key.descending || word.front() == '-';
      key.by_order = key.by_order || word.front() == '#';
      word.remove_prefix(1);
    }
    if (word.empty()) continue;
    key.letter = word.front();
    order.push_back(key);
  }
  const auto rank = [](const Row& row) {
    return row.members.empty() ? 0 : cluster::state_rank(*row.members.front().view);
  };
  const auto compare = [&](const Key& key, const Row& a, const Row& b) -> int {
    if (key.letter == 'P' && key.by_order)
      return a.partition_order < b.partition_order ? -1 : a.partition_order > b.partition_order;
    if (key.letter == 't' || key.letter == 'T') return rank(a) - rank(b);
    if (key.letter == 'N' || key.letter == 'n') {
      // Nodes come in natural order: their place in the cluster is it.
      if (a.members.empty() || b.members.empty())
        return static_cast<int>(a.members.size()) - static_cast<int>(b.members.size());
      const auto* first = a.members.front().node;
      const auto* second = b.members.front().node;
      return first < second ? -1 : second < first;
    }
    if (key.letter == 'D')
      return static_cast<int>(a.members.size()) - static_cast<int>(b.members.size());
    if (key.letter == 'l') return compare_limits(a, b);
    const auto* column = column_of(key.letter == 'P' ? 'R' : key.letter);
    if (column == nullptr) return 0;
    return compare_values(key.letter, column->value(a), column->value(b));
  };
  std::ranges::stable_sort(rows, [&](const Row& a, const Row& b) {
    for (const auto& key : order) {
      const int way = compare(key, a, b);
      if (way != 0) return key.descending ? way > 0 : way < 0;
    }
    return false;
  });
}

std::string header_line(const Format& format) {
  std::string line;
  for (const auto& field : format.fields)
    line += field.column == nullptr ? field.suffix
                                    : cell(field, std::string(field.column->header), true);
  return line + "\n";
}

std::string row_line(const Format& format, const Row& row) {
  std::string line;
  for (const auto& field : format.fields)
    line += field.column == nullptr ? field.suffix : cell(field, field.column->value(row), false);
  return line + "\n";
}

} // namespace shim::commands::sinfo
