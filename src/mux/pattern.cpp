#include "slurm_shim/mux/pattern.h"

#include "slurm_shim/base/strings.h"

#include <algorithm>

namespace shim::mux {

namespace {

constexpr std::string_view k_verbs = "jJAatnNsxu";
constexpr std::int64_t k_no_array_index = 4294967294; // Slurm's NO_VAL, as it prints it
constexpr std::size_t k_max_width = 10;

std::string padded(std::int64_t value, std::size_t width) {
  auto text = std::to_string(value);
  if (text.size() < width) text.insert(0, width - text.size(), '0');
  return text;
}

std::string verb_text(char verb, std::size_t width, const PatternFields& f) {
  switch (verb) {
  case 'j': return padded(f.job_id, width);
  case 'J': return padded(f.job_id, width) + (f.step_id ? "." + std::to_string(*f.step_id) : "");
  case 'A': return padded(f.array_job_id, width);
  case 'a': return padded(f.array_task_id.value_or(k_no_array_index), width);
  case 't': return padded(f.rank, width);
  case 'n': return padded(f.node_id, width);
  case 's': return f.step_id ? padded(*f.step_id, width) : "batch";
  case 'N': return f.node_name;
  case 'x': return f.job_name;
  default: return f.user;
  }
}

// One piece of a pattern: literal text, or a verb with its width.
struct Piece {
  std::string_view literal;
  char verb = 0;
  std::size_t width = 0;
};

Piece next_piece(std::string_view& rest) {
  const auto percent = rest.find('%');
  if (percent != 0) {
    const auto literal = rest.substr(0, percent);
    rest.remove_prefix(literal.size());
    return {literal};
  }
  std::size_t at = 1;
  std::size_t width = 0;
  for (; at < rest.size() && is_digit(rest[at]); ++at)
    width = std::min(width * 10 + static_cast<std::size_t>(rest[at] - '0'), k_max_width);
  Piece piece;
  if (at < rest.size() && k_verbs.find(rest[at]) != std::string_view::npos) {
    piece = {{}, rest[at], width};
    ++at;
  } else if (at < rest.size() && rest[at] == '%') {
    piece.literal = rest.substr(at++, 1);
  } else {
    // Of a width without a verb the last digit stays; a lone % stays as it is.
    piece.literal = at > 1 ? rest.substr(at - 1, 1) : rest.substr(0, 1);
  }
  rest.remove_prefix(at);
  return piece;
}

bool is_switched_off(std::string_view pattern) {
  return pattern.find('\\') != std::string_view::npos;
}

} // namespace

std::string expand_pattern(std::string_view pattern, const PatternFields& fields) {
  std::string out;
  if (is_switched_off(pattern)) {
    std::copy_if(
        pattern.begin(), pattern.end(), std::back_inserter(out), [](char c) { return c != '\\'; });
    return out;
  }
  while (!pattern.empty()) {
    const auto piece = next_piece(pattern);
    if (piece.verb != 0)
      out += verb_text(piece.verb, piece.width, fields);
    else
      out += piece.literal;
  }
  return out;
}

bool pattern_uses(std::string_view pattern, char verb) {
  if (is_switched_off(pattern)) return false;
  while (!pattern.empty())
    if (next_piece(pattern).verb == verb) return true;
  return false;
}

bool is_tasks_own_pattern(std::string_view pattern) {
  return pattern_uses(pattern, 't') || pattern_uses(pattern, 'n') || pattern_uses(pattern, 'N');
}

} // namespace shim::mux
