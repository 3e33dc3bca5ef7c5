// Slurm's forgiving dialect of host lists, as captured in tests/vectors/02_hostlist.json.
#include "bracket_group.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/slurm/hostlist.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace shim::slurm {

namespace {

tl::unexpected<Error> bad_list(std::string line) {
  return fail(ErrorKind::usage, std::move(line), k_exit_failure);
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// The number at the start of `text` after blanks, as strtoul reads it: saturating; the rest is left
// in `text`. Nothing when there is no digit.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  auto rest = text;
  while (!rest.empty() && is_blank(rest.front()))
    rest.remove_prefix(1);
  if (rest.empty() || !is_digits(rest.substr(0, 1))) return std::nullopt;
  std::uint64_t value = 0;
  while (!rest.empty() && is_digits(rest.substr(0, 1))) {
    const auto digit = static_cast<std::uint64_t>(rest.front() - '0');
    constexpr auto k_top = std::numeric_limits<std::uint64_t>::max();
    value = value > (k_top - digit) / 10 ? k_top : value * 10 + digit;
    rest.remove_prefix(1);
  }
  text = rest;
  return value;
}

Result<BracketItem> parse_range(std::string_view range) {
  const auto bad = [&](std::string_view what) {
    return bad_list("_parse_single_range: " + std::string(what) + " `" + std::string(range) + "'");
  };
  const auto dash = range.find('-');
  const auto low_text = range.substr(0, dash);
  auto rest = low_text;
  const auto low = take_number(rest);
  if (!low) return bad("Invalid range:");
  auto high = low;
  // "1-" is 1: an absent upper end is the lower one.
  if (dash != std::string_view::npos && dash + 1 < range.size()) {
    rest = range.substr(dash + 1);
    high = take_number(rest);
    if (!high) return bad("Invalid range:");
  }
  if (!rest.empty() || *low > *high) return bad("Invalid range:");
  if (*high - *low >= k_max_hosts) return bad("Too many hosts in range");
  return BracketItem{zero_padded(*low, low_text.size()), *low, *high - *low};
}

Result<BracketedName> parse_token(std::string_view token) {
  BracketedName name;
  while (true) {
    const auto open = token.find('[');
    if (open == std::string_view::npos) {
      // Only digits of the last group may end a bracketed name.
      if (!name.groups.empty() && !token.empty()) return bad_list("");
      name.literals.emplace_back(token);
      return name;
    }
    const auto close = token.find(']', open);
    if (close == std::string_view::npos) { // an unclosed bracket is taken as "]"
      name.literals.push_back(std::string(token.substr(0, open)) + "]");
      return name;
    }
    const auto inside = token.substr(open + 1, close - open - 1);
    if (inside.find('[') != std::string_view::npos) return bad_list("");
    name.literals.emplace_back(token.substr(0, open));
    std::vector<BracketItem> group;
    for (const auto range : split(inside, ',')) {
      TRY_ASSIGN(auto item, parse_range(range));
      group.push_back(std::move(item));
    }
    name.groups.push_back(std::move(group));
    token.remove_prefix(close + 1);
  }
}

// Consecutive hosts with one prefix and consecutive numbers. `width`: digits of the first number.
struct Range {
  std::string prefix;
  bool numbered = false;
  std::uint64_t low = 0, high = 0;
  std::size_t width = 0;
};

// `digits`: how many digits at its end are the number.
Range range_of(std::string_view host, std::size_t digits) {
  const auto begin = host.size() - digits;
  const auto value = parse_int<std::uint64_t>(host.substr(begin));
  if (digits == 0 || !value) return {std::string(host), false, 0, 0, 0};
  return {std::string(host.substr(0, begin)), true, *value, *value, digits};
}

std::size_t digits_at_end(std::string_view host) {
  const auto last = host.find_last_not_of("0123456789");
  return last == std::string_view::npos ? host.size() : host.size() - last - 1;
}

// There is one width in which both numbers print as they were written.
bool same_padding(std::uint64_t a, std::size_t a_width, std::uint64_t b, std::size_t b_width) {
  const auto fits = [](std::uint64_t value, std::size_t written, std::size_t width) {
    return zero_padded(value, written).size() == zero_padded(value, width).size();
  };
  return fits(a, a_width, b_width) || fits(b, b_width, a_width);
}

bool same_padding(const Range& a, const Range& b) {
  return same_padding(a.low, a.width, b.low, b.width);
}

void add_range(std::vector<Range>& ranges, Range next) {
  if (!ranges.empty()) {
    auto& last = ranges.back();
    if (last.numbered && next.numbered && last.prefix == next.prefix && next.low == last.high + 1 &&
        same_padding(last, next)) {
      last.high = next.low;
      return;
    }
  }
  ranges.push_back(std::move(next));
}

std::string text_of(const std::vector<Range>& ranges) {
  std::string out;
  for (std::size_t i = 0; i < ranges.size();) {
    const auto& first = ranges[i];
    std::size_t end = i + 1;
    while (first.numbered && end < ranges.size() && ranges[end].numbered &&
           ranges[end].prefix == first.prefix)
      ++end;
    if (!out.empty()) out += ',';
    out += first.prefix;
    const bool brackets = end > i + 1 || first.high > first.low;
    if (brackets) out += '[';
    for (std::size_t k = i; k < end && first.numbered; ++k) {
      if (k != i) out += ',';
      out += zero_padded(ranges[k].low, ranges[k].width);
      if (ranges[k].high != ranges[k].low)
        out += "-" + zero_padded(ranges[k].high, ranges[k].width);
    }
    if (brackets) out += ']';
    i = end;
  }
  return out;
}

// Not a strict weak order across paddings (Slurm's is none either): for merge sorts only.
bool comes_before(const Range& a, const Range& b) {
  if (a.prefix != b.prefix) return a.prefix < b.prefix;
  if (a.numbered != b.numbered) return !a.numbered;
  return same_padding(a, b) ? a.low < b.low : a.width < b.width;
}

// Calls `take(hosts of one token, its parsed form)` for each token.
template <class Take> Result<void> for_each_token(std::string_view text, Take&& take) {
  std::size_t begin = 0;
  std::size_t count = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '[') ++depth;
    if (c == ']' && depth > 0) --depth;
    const bool separator = c == ',' || c == ' ' || c == '\t';
    if (i != text.size() && (!separator || depth > 0)) continue;
    if (i > begin) {
      TRY_ASSIGN(const auto name, parse_token(text.substr(begin, i - begin)));
      std::vector<std::string> hosts;
      if (!append_names(name, k_max_hosts - count, hosts))
        return bad_list("Too many hosts in list");
      count += hosts.size();
      take(hosts, name);
    }
    begin = i + 1;
  }
  return {};
}

Result<std::vector<Range>> ranges_of(std::string_view text) {
  std::vector<Range> ranges;
  TRY(for_each_token(text, [&](const std::vector<std::string>& hosts, const BracketedName& name) {
    if (name.groups.empty()) {
      add_range(ranges, range_of(hosts.front(), digits_at_end(hosts.front())));
      return;
    }
    // In a bracketed name only the last group is the number: node_1[1-3] stays as it is.
    const auto values = values_of(name.groups.back());
    for (std::size_t n = 0; n < hosts.size(); ++n)
      add_range(ranges, range_of(hosts[n], values[n % values.size()].size()));
  }));
  return ranges;
}

// The hosts of ranges[i..] that touch each other, in order and joined again, appended to `out`: so
// 1-3,2-4 becomes 1-2,2-3,3-4 and every host of the input is still there. Returns the next i.
std::size_t join_run(const std::vector<Range>& ranges, std::size_t i, std::vector<Range>& out) {
  const auto& first = ranges[i];
  if (!first.numbered) {
    out.push_back(first);
    return i + 1;
  }
  std::vector<std::uint64_t> values;
  std::uint64_t top = first.high;
  std::size_t end = i;
  while (end < ranges.size() && ranges[end].numbered && ranges[end].prefix == first.prefix &&
         same_padding(first, ranges[end]) && (end == i || ranges[end].low <= top + 1)) {
    for (std::uint64_t n = 0; n <= ranges[end].high - ranges[end].low; ++n)
      values.push_back(ranges[end].low + n);
    top = std::max(top, ranges[end].high);
    ++end;
  }
  std::sort(values.begin(), values.end());
  for (std::size_t k = 0; k < values.size(); ++k)
    if (k > 0 && values[k] == out.back().high + 1)
      out.back().high = values[k];
    else
      out.push_back({first.prefix, true, values[k], values[k], first.width});
  return end;
}

} // namespace

Result<std::vector<std::string>> slurm_expand_hostlist(std::string_view text) {
  std::vector<std::string> all;
  TRY(for_each_token(text, [&](const std::vector<std::string>& hosts, const BracketedName&) {
    all.insert(all.end(), hosts.begin(), hosts.end());
  }));
  return all;
}

Result<std::string> slurm_compress_hostlist(std::string_view text) {
  TRY_ASSIGN(const auto ranges, ranges_of(text));
  return text_of(ranges);
}

Result<std::string> slurm_sorted_hostlist(std::string_view text) {
  TRY_ASSIGN(auto ranges, ranges_of(text));
  std::stable_sort(ranges.begin(), ranges.end(), comes_before);
  std::vector<Range> sorted;
  for (std::size_t i = 0; i < ranges.size();)
    i = join_run(ranges, i, sorted);
  return text_of(sorted);
}

} // namespace shim::slurm
