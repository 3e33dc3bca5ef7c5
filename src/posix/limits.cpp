#include "slurm_shim/posix/limits.h"

#include "slurm_shim/base/strings.h"

#include <algorithm>

#include <sys/resource.h>

namespace shim::posix {

namespace {

struct Known {
  std::string_view name;
  int resource;
};
constexpr Known k_known[] = {{"CORE", RLIMIT_CORE},
                             {"FSIZE", RLIMIT_FSIZE},
                             {"MEMLOCK", RLIMIT_MEMLOCK},
                             {"NOFILE", RLIMIT_NOFILE},
                             {"NPROC", RLIMIT_NPROC},
                             {"STACK", RLIMIT_STACK}};

constexpr std::string_view k_unlimited = "unlimited";

bool is_wanted(std::string_view name, std::string_view names) {
  if (names.empty()) return true;
  const auto words = split(names, ',');
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    if (equals_ignore_case(word.substr(0, 7), "RLIMIT_")) word.remove_prefix(7);
    return equals_ignore_case(word, "ALL") || equals_ignore_case(word, name);
  });
}

} // namespace

std::vector<std::string> soft_limits(std::string_view names) {
  std::vector<std::string> out;
  for (const auto& known : k_known) {
    rlimit limit{};
    if (!is_wanted(known.name, names) || ::getrlimit(known.resource, &limit) != 0) continue;
    out.push_back(std::string(known.name) + "=" +
                  (limit.rlim_cur == RLIM_INFINITY ? std::string(k_unlimited)
                                                   : std::to_string(limit.rlim_cur)));
  }
  return out;
}

void apply_soft_limits(const std::vector<std::string>& limits, OpenFileLimit& open_files) {
  for (const auto& text : limits) {
    const auto name = std::string_view(text).substr(0, text.find('='));
    const auto value = std::string_view(text).substr(std::min(text.size(), name.size() + 1));
    const auto known = std::find_if(
        std::begin(k_known), std::end(k_known), [&](const auto& k) { return k.name == name; });
    const auto number = value == k_unlimited ? RLIM_INFINITY : parse_int<rlim_t>(value);
    if (known == std::end(k_known) || !number) continue;
    if (known->resource == RLIMIT_NOFILE) {
      open_files.soft = std::min(*number, open_files.hard);
      continue;
    }
    rlimit limit{};
    if (::getrlimit(known->resource, &limit) != 0) continue;
    limit.rlim_cur = std::min(*number, limit.rlim_max);
    ::setrlimit(known->resource, &limit);
  }
}

} // namespace shim::posix
