#pragma once
// sinfo's lines: columns, the grouping of nodes that look alike in them, filters and order. Pure.
// vectors/08.

#include "slurm_shim/base/result.h"
#include "slurm_shim/cluster/cluster.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shim::commands::sinfo {

struct Member {
  const cluster::Node* node = nullptr;
  const cluster::View* view = nullptr;
};
// Nodes of one line; none: a partition without a node that was asked for.
struct Row {
  const cluster::Partition* partition = nullptr; // the first of them
  std::size_t partition_order = 0;
  std::vector<Member> members;
};

struct Column {
  char letter;           // of --format; 0 = only by name
  std::string_view name; // of --Format, any case
  std::string_view header;
  std::string (*value)(const Row&);
  enum class Splits { never, always, exact } splits = Splits::never;
};

struct Field {
  const Column* column = nullptr; // nullptr: `suffix` alone
  int width = 0;                  // 0 = as wide as the value
  bool right = false;
  bool fits = false; // as wide as the longest value, see fit()
  std::string suffix;
};
struct Format {
  std::vector<Field> fields;
  std::vector<std::string> errors; // "Invalid node format specification: j"
};
[[nodiscard]] Format parse_format(std::string_view text);
// One of sinfo's own layouts, where '#' may stand for a width that fit() finds.
[[nodiscard]] Format parse_layout(std::string_view text);
void fit(Format& format, const std::vector<Row>& rows);
// Error: "Invalid job format specification: bogus".
[[nodiscard]] Format parse_long_format(std::string_view text);
[[nodiscard]] bool uses(const Format& format, std::string_view letters);

struct Filter {
  std::vector<std::string> partitions, nodes, states;
  bool by_node = false;  // -n was given, also when it names nothing
  bool by_state = false; // -t was given
  bool responding = false, dead = false, reasons = false;
  bool each_node = false; // -N
  bool exact = false;
};
[[nodiscard]] std::vector<Row>
make_rows(const cluster::Cluster& cluster, const Format& format, const Filter& filter);
// "#P,-t": keys of --sort; unknown ones change nothing.
void sort_rows(std::vector<Row>& rows, std::string_view keys);

[[nodiscard]] std::string header_line(const Format& format);
[[nodiscard]] std::string row_line(const Format& format, const Row& row);

// `{"sinfo": [...], "meta": ..., "errors": [], "warnings": []}`
[[nodiscard]] std::string
to_json(const std::vector<Row>& rows, const std::string& version, const std::string& cluster);

} // namespace shim::commands::sinfo
