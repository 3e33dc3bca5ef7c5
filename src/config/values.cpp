#include "values.h"

#include "slurm_shim/base/strings.h"

#include <algorithm>
#include <array>

namespace shim::config {

namespace {

struct Unit {
  std::string_view name;
  double milliseconds;
};
// Longer names first: "ms" is not "m".
constexpr std::array k_units{Unit{"ns", 1e-6},
                             Unit{"us", 1e-3},
                             Unit{"ms", 1},
                             Unit{"s", 1e3},
                             Unit{"m", 6e4},
                             Unit{"h", 3.6e6}};
constexpr double k_longest_ms = 3.6e6 * 24 * 366 * 100; // a century: no overflow anywhere

// 12, 12.5, .5 at the front of `text`.
std::optional<double> take_decimal(std::string_view& text) {
  double value = 0;
  double scale = 1;
  bool digits = false;
  bool fraction = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && !fraction) {
      fraction = true;
    } else if (c >= '0' && c <= '9') {
      digits = true;
      if (fraction) scale /= 10;
      value = fraction ? value + scale * (c - '0') : value * 10 + (c - '0');
    } else {
      break;
    }
  }
  text.remove_prefix(i);
  if (!digits) return std::nullopt;
  return value;
}

bool is_positive(std::string_view text) {
  const auto value = parse_int<int>(text);
  return is_digits(text) && value && *value > 0;
}

std::optional<int> to_port(std::string_view text) {
  const auto value = parse_int<int>(text);
  if (!is_digits(text) || !value || *value < 1 || *value > 65535) return std::nullopt;
  return value;
}

} // namespace

std::optional<bool> to_bool(std::string_view text) {
  const auto word = to_lower(text);
  if (word == "true" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "no" || word == "off") return false;
  return std::nullopt;
}

std::optional<std::chrono::milliseconds> to_duration(std::string_view text) {
  if (text == "0") return std::chrono::milliseconds{0};
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  double total = 0;
  while (!text.empty()) {
    const auto number = take_decimal(text);
    if (!number) return std::nullopt;
    const Unit* unit = nullptr;
    for (const auto& candidate : k_units)
      if (unit == nullptr && text.starts_with(candidate.name)) unit = &candidate;
    if (unit == nullptr) return std::nullopt;
    text.remove_prefix(unit->name.size());
    total += *number * unit->milliseconds;
    if (total > k_longest_ms) return std::nullopt;
  }
  return std::chrono::milliseconds{static_cast<long>(total + 1e-6)};
}

std::optional<PortRange> parse_port_range(std::string_view text) {
  if (text.empty()) return PortRange{};
  if (text == "0") return PortRange{0, 0};
  const auto dash = text.find('-');
  const auto first = to_port(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : to_port(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return PortRange{*first, *last};
}

bool is_version(std::string_view text) {
  const auto parts = split(text, '.');
  return parts.size() == 3 && std::ranges::all_of(parts, is_digits);
}

bool is_slots_rule(std::string_view text) {
  constexpr std::string_view k_per_node = "per-node:";
  if (text == "per-task") return true;
  if (text.starts_with(k_per_node)) text.remove_prefix(k_per_node.size());
  return is_positive(text);
}

} // namespace shim::config
