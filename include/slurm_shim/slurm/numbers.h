#pragma once
// Slurm's integer options and node counts, with the messages of its parser. Pure. vectors/03 geo.*

#include "slurm_shim/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shim::slurm {

// A number for an option. `what` as the message names it: "--ntasks", "--switches", "first arg of
// -B". Errors (usage, exit 1): `Invalid numeric value "x" for --ntasks.`, and a text of its own for
// a number above 2147483647.
[[nodiscard]] Result<int> parse_positive(std::string_view text, std::string_view what); // >= 1
[[nodiscard]] Result<int> parse_non_negative(std::string_view text, std::string_view what);

struct NodeCount {
  int min = 1;
  int max = 1;        // the same as min when a single number was given
  bool range = false; // "a-b" was written
};
// -N: N, min-max, k/K = 1024, m/M = 1048576. "-3" means 1-3. 0 is accepted and means "not given".
// Errors (usage, exit 255): `"x" is not a valid node count`,
// "Maximum node count 1 is less than minimum node count 2".
[[nodiscard]] Result<NodeCount> parse_node_count(std::string_view text);

// --nice: no value = 100. Errors: out of range (usage, 255), negative (refused, 1).
[[nodiscard]] Result<int> parse_nice(std::optional<std::string_view> text);

// -B sockets[:cores[:threads]]; '*' and missing parts are 0. Error: `Invalid numeric value "x" for
// first arg of -B.` (second, third), exit 1.
struct SocketsCoresThreads {
  int sockets = 0, cores = 0, threads = 0;
};
[[nodiscard]] Result<SocketsCoresThreads> parse_extra_node_info(std::string_view text);

// --switches count[@max-time]: exit 1 for the count, 255 for the time.
struct Switches {
  int count = 0;
  std::optional<std::uint32_t> max_wait_minutes;
};
[[nodiscard]] Result<Switches> parse_switches(std::string_view text);

} // namespace shim::slurm
