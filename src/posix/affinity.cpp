#include "slurm_shim/posix/affinity.h"

#include "slurm_shim/base/strings.h"

#include <cerrno>
#include <string>

#include <sched.h>

namespace shim::posix {

namespace {

std::string quoted(const char* what, std::string_view item) {
  return std::string(what) + " \"" + std::string(item) + "\"";
}

Result<void> append_item(std::vector<int>& cpus, std::string_view item) {
  const auto dash = item.find('-');
  if (dash == std::string_view::npos) {
    const auto cpu = parse_int<int>(item);
    if (!cpu) return fail(ErrorKind::malformed, quoted("invalid cpu", item));
    cpus.push_back(*cpu);
    return {};
  }
  const auto first = parse_int<int>(trim(item.substr(0, dash)));
  const auto last = parse_int<int>(trim(item.substr(dash + 1)));
  if (!first || !last || *first < 0 || *first > *last || *last >= CPU_SETSIZE * 64)
    return fail(ErrorKind::malformed, quoted("invalid cpu range", item));
  for (int cpu = *first; cpu <= *last; ++cpu)
    cpus.push_back(cpu);
  return {};
}

} // namespace

Result<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  for (const auto part : split(text, ',')) {
    const auto item = trim(part);
    if (!item.empty()) TRY(append_item(cpus, item));
  }
  return cpus;
}

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<unsigned>(cpu), &set)) cpus.push_back(cpu);
  return cpus;
}

int set_affinity(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) {
    if (cpu < 0 || cpu >= CPU_SETSIZE) return EINVAL;
    CPU_SET(static_cast<unsigned>(cpu), &set);
  }
  return ::sched_setaffinity(0, sizeof set, &set) == 0 ? 0 : errno;
}

} // namespace shim::posix
