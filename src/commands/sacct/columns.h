#pragma once
// The columns of sacct: names, widths and values, as `sacct --helpformat` lists them. What Grid
// Engine and the job records cannot tell is an empty cell. Pure. vectors/09 sa.f.*

#include "slurm_shim/history/history.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shim::commands::sacct {

struct Ids {
  std::uint32_t uid = 0, gid = 0;
};

// What values depend on besides the row.
struct Setting {
  std::int64_t now = 0;
  std::int64_t from = 0, to = 0; // --truncate; 0 = do not
  std::string time_format, cluster;
  char unit = 0;
  bool convert = true;
  std::function<std::optional<Ids>(const std::string& user)> ids;
};

struct Row {
  const history::Entry& job;
  const history::Step* step; // nullptr: the job's own row
  const Setting& setting;
};

struct Column {
  std::string_view name;
  int width = 10;
  std::string (*value)(const Row&) = nullptr;
  bool left = false;
  bool listed = true; // by --helpformat
};

// A column as asked for: "state%20", "nodelist%-256".
struct Chosen {
  const Column* column = nullptr;
  int width = 0;
  bool left = false;
};
// Error (usage): `Invalid field requested: "Bogus"`.
[[nodiscard]] Result<std::vector<Chosen>> choose(std::string_view fields);
[[nodiscard]] std::span<const Column> columns();

[[nodiscard]] std::string help_format();
[[nodiscard]] std::string state_text(const Row& row);
[[nodiscard]] std::string exit_text(const history::ExitCode& exit);

} // namespace shim::commands::sacct
