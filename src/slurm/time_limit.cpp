#include "slurm_shim/slurm/time_limit.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace shim::slurm {

namespace {

// Slurm computes in int: the low 32 bits count (vectors/03 time.56, time.57).
std::uint32_t to_number(std::string_view digits) {
  std::uint32_t value = 0;
  for (const char c : digits)
    value = value * 10 + static_cast<std::uint32_t>(c - '0');
  return value;
}

bool all_numbers(const std::vector<std::string_view>& parts) {
  return std::ranges::all_of(parts, [](std::string_view part) { return is_digits(part); });
}

std::uint32_t round_up_to_minutes(std::uint32_t seconds) {
  // Signed on purpose: what wrapped below zero stays there, as in the original.
  const auto value = static_cast<std::int32_t>(seconds + 59);
  return static_cast<std::uint32_t>(value / 60);
}

} // namespace

Result<std::uint32_t> parse_time_limit(std::string_view text, std::string_view option) {
  if (text == "-1" || equals_ignore_case(text, "infinite") || equals_ignore_case(text, "unlimited"))
    return k_unlimited_minutes;
  const auto invalid = [&] {
    return fail(
        ErrorKind::usage, "Invalid --" + std::string(option) + " specification", k_exit_usage);
  };
  std::uint32_t days = 0;
  const auto dash = text.find('-');
  const bool with_days = dash != std::string_view::npos;
  auto clock = text;
  if (with_days) {
    if (!is_digits(text.substr(0, dash))) return invalid();
    days = to_number(text.substr(0, dash));
    clock = text.substr(dash + 1);
    if (clock.empty()) clock = "0"; // "1-" is one day
  }
  const auto parts = split(clock, ':');
  if (parts.size() > 3 || !all_numbers(parts)) return invalid();
  std::uint32_t hours = 0, minutes = 0, seconds = 0;
  // With days the first number is hours; without, one or two numbers are minutes and seconds.
  std::size_t next = 0;
  if (with_days || parts.size() == 3) hours = to_number(parts[next++]);
  if (next < parts.size()) minutes = to_number(parts[next++]);
  if (next < parts.size()) seconds = to_number(parts[next]);
  const auto total = round_up_to_minutes(((days * 24 + hours) * 60 + minutes) * 60 + seconds);
  return total == 0 ? k_unlimited_minutes : total;
}

std::string format_duration(std::int64_t seconds) {
  if (seconds < 0) seconds = 0;
  const auto clock =
      fmt::format("{:02}:{:02}:{:02}", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
  return seconds >= 86400 ? fmt::format("{}-{}", seconds / 86400, clock) : clock;
}

std::string format_time_limit(std::uint32_t minutes) {
  return minutes == k_unlimited_minutes ? "UNLIMITED" : format_duration(std::int64_t{minutes} * 60);
}

std::string format_duration_short(std::int64_t seconds) {
  if (seconds < 0) seconds = 0;
  if (seconds >= 86400) return format_duration(seconds);
  if (seconds >= 3600)
    return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
  return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
}

std::string format_time_limit_short(std::uint32_t minutes) {
  return minutes == k_unlimited_minutes ? "UNLIMITED"
                                        : format_duration_short(std::int64_t{minutes} * 60);
}

} // namespace shim::slurm
