#include "slurm_shim/slurm/numbers.h"

#include "c_number.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/slurm/time_limit.h"

#include <limits>

namespace shim::slurm {

namespace {

constexpr long k_max = std::numeric_limits<int>::max();
constexpr int k_default_nice = 100;
constexpr long k_nice_bound = 2147483645;

Result<int> parse_number(std::string_view text, std::string_view what, long least) {
  auto rest = text;
  const auto value = take_c_number(rest);
  if (!value || !rest.empty() || *value < least)
    return fail(ErrorKind::usage,
                "Invalid numeric value \"" + std::string(text) + "\" for " + std::string(what) +
                    ".",
                k_exit_failure);
  if (*value > k_max)
    return fail(ErrorKind::usage,
                "Numeric argument (" + std::to_string(*value) + ") to big for " +
                    std::string(what) + ".",
                k_exit_failure);
  return static_cast<int>(*value);
}

// Digits with an optional k or m; -1 for an empty text, as in Slurm's messages.
Result<int> parse_nodes(std::string_view text) {
  auto rest = text;
  const auto value = take_c_number(rest);
  const auto bad = [&] {
    return fail(
        ErrorKind::usage, "\"" + std::string(text) + "\" is not a valid node count", k_exit_usage);
  };
  if (text.empty()) return -1;
  if (!value || *value < 0) return bad();
  long factor = 1;
  if (rest == "k" || rest == "K") factor = 1024;
  if (rest == "m" || rest == "M") factor = 1024L * 1024;
  if ((factor == 1 && !trim(rest).empty()) || *value > k_max / factor) return bad();
  return static_cast<int>(*value * factor);
}

} // namespace

Result<int> parse_positive(std::string_view text, std::string_view what) {
  return parse_number(text, what, 1);
}

Result<int> parse_non_negative(std::string_view text, std::string_view what) {
  return parse_number(text, what, 0);
}

Result<NodeCount> parse_node_count(std::string_view text) {
  NodeCount count;
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) {
    if (trim(text).empty())
      return fail(ErrorKind::usage,
                  "\"" + std::string(text) + "\" is not a valid node count",
                  k_exit_usage);
    TRY_ASSIGN(count.min, parse_nodes(text));
    count.max = count.min;
    return count;
  }
  count.range = true;
  TRY_ASSIGN(count.min, parse_nodes(text.substr(0, dash)));
  TRY_ASSIGN(count.max, parse_nodes(text.substr(dash + 1)));
  if (count.min < 1) count.min = 1; // "-3" is 1-3
  if (count.max != 0 && count.max < count.min)
    return fail(ErrorKind::usage,
                "Maximum node count " + std::to_string(count.max) +
                    " is less than minimum node count " + std::to_string(count.min),
                k_exit_usage);
  return count;
}

Result<int> parse_nice(std::optional<std::string_view> text) {
  if (!text) return k_default_nice;
  auto rest = *text;
  const auto value = take_c_number(rest);
  if (!value || !rest.empty())
    return fail(ErrorKind::usage, "Invalid --nice specification", k_exit_usage);
  if (*value > k_nice_bound || *value < -k_nice_bound)
    return fail(
        ErrorKind::usage, "Invalid --nice value, out of range (+/- 2147483645)", k_exit_usage);
  if (*value < 0)
    return fail(
        ErrorKind::refused, "Batch job submission failed: Invalid --nice value", k_exit_failure);
  return static_cast<int>(*value);
}

Result<SocketsCoresThreads> parse_extra_node_info(std::string_view text) {
  SocketsCoresThreads info;
  int* const targets[] = {&info.sockets, &info.cores, &info.threads};
  const std::string_view places[] = {"first arg of -B", "second arg of -B", "third arg of -B"};
  const auto parts = split(text, ':');
  for (std::size_t i = 0; i < parts.size() && i < std::size(places); ++i) {
    if (parts[i] == "*") continue;
    TRY_ASSIGN(*targets[i], parse_positive(parts[i], places[i]));
  }
  if (parts.size() > std::size(places))
    return fail(ErrorKind::usage, "Invalid --extra-node-info specification", k_exit_usage);
  return info;
}

Result<Switches> parse_switches(std::string_view text) {
  Switches switches;
  const auto at = text.find('@');
  TRY_ASSIGN(switches.count, parse_non_negative(text.substr(0, at), "--switches"));
  if (at != std::string_view::npos) {
    TRY_ASSIGN(switches.max_wait_minutes, parse_time_limit(text.substr(at + 1), "switches"));
  }
  return switches;
}

} // namespace shim::slurm
