#include "bracket_group.h"

#include <numeric>

namespace shim::slurm {

namespace {

// Number of values, or limit + 1 when there are more than that.
std::size_t size_of(const std::vector<BracketItem>& group, std::size_t limit) {
  std::size_t size = 0;
  for (const auto& item : group) {
    if (item.extra >= limit || size + item.extra + 1 > limit) return limit + 1;
    size += item.extra + 1;
  }
  return size;
}

} // namespace

std::string zero_padded(std::uint64_t value, std::size_t width) {
  std::string digits = std::to_string(value);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

std::vector<std::string> values_of(const std::vector<BracketItem>& group) {
  std::vector<std::string> values;
  for (const auto& item : group) {
    values.push_back(item.low);
    for (std::uint64_t i = 1; i <= item.extra; ++i)
      values.push_back(zero_padded(item.first + i, item.low.size()));
  }
  return values;
}

bool append_names(const BracketedName& name, std::size_t limit, std::vector<std::string>& hosts) {
  std::size_t count = 1;
  for (const auto& group : name.groups) {
    const std::size_t size = size_of(group, limit);
    if (size == 0 || size > limit / count) return false;
    count *= size;
  }
  if (hosts.size() > limit || count > limit - hosts.size()) return false;

  std::vector<std::vector<std::string>> values;
  for (const auto& group : name.groups)
    values.push_back(values_of(group));
  // Slurm's order of turning: the last wheel, then the first, second, ...
  std::vector<std::size_t> wheels(values.size());
  std::iota(wheels.begin(), wheels.end(), std::size_t{0});
  if (!wheels.empty()) {
    wheels.pop_back();
    wheels.insert(wheels.begin(), values.size() - 1);
  }
  std::vector<std::size_t> at(values.size(), 0);
  for (std::size_t n = 0; n < count; ++n) {
    std::string host = name.literals.front();
    for (std::size_t g = 0; g < values.size(); ++g)
      host += values[g][at[g]] + name.literals[g + 1];
    hosts.push_back(std::move(host));
    for (const auto wheel : wheels) {
      if (++at[wheel] < values[wheel].size()) break;
      at[wheel] = 0;
    }
  }
  return true;
}

} // namespace shim::slurm
