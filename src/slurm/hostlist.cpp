#include "slurm_shim/slurm/hostlist.h"

#include "bracket_group.h"

#include "slurm_shim/base/strings.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace shim::slurm {

namespace {

// A name around its last run of digits: "node01-ib" = "node" "01" "-ib".
struct SplitName {
  std::string_view prefix, digits, suffix;
};

SplitName split_name(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && !is_digit(name[end - 1]))
    --end;
  if (end == 0) return {name, {}, {}};
  std::size_t begin = end;
  while (begin > 0 && is_digit(name[begin - 1]))
    --begin;
  return {name.substr(0, begin), name.substr(begin, end - begin), name.substr(end)};
}

// Decimal order of digit strings of any length; leading zeros do not count.
std::string_view without_zeros(std::string_view digits) {
  const auto first = digits.find_first_not_of('0');
  return first == std::string_view::npos ? std::string_view{} : digits.substr(first);
}

// `b` is one more than `a`, in equally many digits.
bool is_successor(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  std::string next(a);
  auto digit = next.rbegin();
  for (; digit != next.rend() && *digit == '9'; ++digit)
    *digit = '0';
  if (digit == next.rend()) return false;
  ++*digit;
  return next == b;
}

tl::unexpected<Error> bad_hostlist(std::string reason) {
  return fail(ErrorKind::malformed, "invalid hostlist: " + std::move(reason));
}

Result<std::vector<std::string_view>> split_blocks(std::string_view text) {
  std::vector<std::string_view> blocks;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '[') {
      ++depth;
    } else if (c == ']') {
      if (--depth < 0) return bad_hostlist("unmatched ']'");
    } else if (c == ',' && (depth == 0 || i == text.size())) {
      if (depth != 0) return bad_hostlist("unmatched '['");
      if (i == begin) return bad_hostlist("empty block");
      blocks.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return blocks;
}

Result<BracketItem> parse_item(std::string_view item) {
  const auto dash = item.find('-');
  if (dash == std::string_view::npos) {
    if (!is_digits(item)) return bad_hostlist("non-numeric range value " + std::string(item));
    return BracketItem{std::string(item), 0, 0};
  }
  const auto low = item.substr(0, dash);
  const auto high = item.substr(dash + 1);
  if (!is_digits(low) || !is_digits(high))
    return bad_hostlist("non-numeric range " + std::string(item));
  const auto first = parse_int<std::uint64_t>(low);
  const auto last = parse_int<std::uint64_t>(high);
  if (!first || !last) return bad_hostlist("too large a number in range " + std::string(item));
  if (*first > *last) return bad_hostlist("descending range " + std::string(item));
  if (*last - *first >= k_max_hosts) return bad_hostlist("too many hosts");
  return BracketItem{std::string(low), *first, *last - *first};
}

Result<BracketedName> parse_block(const std::string_view whole) {
  BracketedName name;
  auto block = whole;
  while (true) {
    const auto open = block.find('[');
    name.literals.emplace_back(block.substr(0, open));
    if (open == std::string_view::npos) return name;
    const auto close = block.find(']', open);
    const auto inside = block.substr(open + 1, close - open - 1);
    if (inside.find('[') != std::string_view::npos)
      return bad_hostlist("malformed brackets in " + std::string(whole));
    std::vector<BracketItem> group;
    for (const auto item : split(inside, ',')) {
      TRY_ASSIGN(auto parsed, parse_item(item));
      group.push_back(std::move(parsed));
    }
    name.groups.push_back(std::move(group));
    block.remove_prefix(close + 1);
  }
}

} // namespace

Result<std::vector<std::string>> expand_hostlist(std::string_view text) {
  if (text.empty()) return bad_hostlist("empty input");
  TRY_ASSIGN(const auto blocks, split_blocks(text));
  std::vector<std::string> hosts;
  for (const auto block : blocks) {
    TRY_ASSIGN(const auto name, parse_block(block));
    if (!append_names(name, k_max_hosts, hosts)) return bad_hostlist("too many hosts");
  }
  return hosts;
}

std::string compress_hostlist(const std::vector<std::string>& hosts) {
  std::string out;
  for (std::size_t i = 0; i < hosts.size();) {
    const auto first = split_name(hosts[i]);
    std::size_t end = i + 1;
    if (!first.digits.empty())
      while (end < hosts.size()) {
        const auto next = split_name(hosts[end]);
        if (next.digits.empty() || next.prefix != first.prefix || next.suffix != first.suffix)
          break;
        ++end;
      }
    if (!out.empty()) out += ',';
    if (end == i + 1) {
      out += hosts[i];
    } else {
      out += std::string(first.prefix) + "[";
      for (std::size_t low = i; low < end;) {
        std::size_t high = low;
        while (high + 1 < end &&
               is_successor(split_name(hosts[high]).digits, split_name(hosts[high + 1]).digits))
          ++high;
        if (low != i) out += ',';
        out += split_name(hosts[low]).digits;
        if (high != low) out += "-" + std::string(split_name(hosts[high]).digits);
        low = high + 1;
      }
      out += "]" + std::string(first.suffix);
    }
    i = end;
  }
  return out;
}

void sort_hosts(std::vector<std::string>& hosts) {
  std::sort(hosts.begin(), hosts.end(), [](const std::string& a, const std::string& b) {
    const auto x = split_name(a);
    const auto y = split_name(b);
    const auto m = without_zeros(x.digits);
    const auto n = without_zeros(y.digits);
    return std::tuple(x.prefix, x.suffix, m.size(), m, x.digits.size(), std::string_view(a)) <
           std::tuple(y.prefix, y.suffix, n.size(), n, y.digits.size(), std::string_view(b));
  });
}

} // namespace shim::slurm
