#pragma once
// What sacct was asked for, typed and valid. Spec commands 4, vectors/09.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/base/result.h"
#include "slurm_shim/cli/parse.h"
#include "slurm_shim/history/history.h"
#include "slurm_shim/slurm/job_id.h"
#include "slurm_shim/slurm/states.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shim::commands::sacct {

struct Range {
  int first = 0, last = 0;
};

struct Request {
  std::vector<slurm::JobRef> jobs;
  std::vector<std::string> users; // names or numbers as written
  bool all_users = false;
  std::vector<std::string> accounts, names, partitions, qos, groups, reasons, hosts;
  std::vector<slurm::JobState> states;
  std::optional<Range> nodes, cpus;
  std::optional<std::pair<std::uint32_t, std::uint32_t>> limits; // minutes
  std::int64_t from = 0, to = 0;                                 // unix seconds; from 0 = all
  bool steps = true, duplicates = false, truncate = false;
  bool header = true, json = false, yaml = false, scripts = false;
  std::string fields; // comma-separated
  enum class Style { table, ends_in, between } style = Style::table;
  std::string delimiter = "|";
  char unit = 0; // K M G T P; 0 = the natural one
  bool convert = true;
  std::string file, time_format;
};

// Errors carry Slurm's text and exit code; `plain` ones go out without "sacct: error:".
struct Refusal {
  std::string text;
  enum class Prefix { none, error, fatal } prefix = Prefix::error;
};
[[nodiscard]] tl::expected<Request, Refusal>
make_request(const cli::Parsed& parsed, const EnvList& env, std::int64_t now);

// A point in time that lies behind: 00:00 is today's, 0101 this year's. vectors/09 sa.S.*
[[nodiscard]] Result<std::int64_t> parse_past_time(std::string_view text, std::int64_t now);

[[nodiscard]] bool keeps(const Request& request, const history::Entry& entry);

} // namespace shim::commands::sacct
