#pragma once
// A table of named columns in the styles of sacct: -p, -P, -n, --delimiter.

#include "slurm_shim/base/result.h"
#include "slurm_shim/context/opening.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shim::commands::probes {

struct Column {
  std::string_view name;
  int width = 10;
  bool left = false;
};
struct Chosen {
  std::string_view name;
  int width = 10;
  bool left = false;
};
// All columns when nothing is asked for; "name%20". Error: `Invalid field requested: "x"`.
[[nodiscard]] Result<std::vector<Chosen>> choose(std::span<const Column> columns,
                                                 std::string_view fields);

struct Style {
  enum class Kind { table, ends_in, between } kind = Kind::table;
  bool header = true;
  std::string delimiter = "|";
};
[[nodiscard]] Style style_of(const cli::Parsed& parsed);
[[nodiscard]] std::string header_of(const std::vector<Chosen>& columns, const Style& style);
[[nodiscard]] std::string line_of(const std::vector<Chosen>& columns,
                                  const Style& style,
                                  const std::vector<std::string>& values);

} // namespace shim::commands::probes
