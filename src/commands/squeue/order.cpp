#include "order.h"

#include "slurm_shim/base/strings.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <tuple>

namespace shim::commands::squeue {

namespace {

using queue::Job;

std::uint32_t first_index(const Job& job) {
  // Elements that wait together come after those that run.
  if (job.together) return std::numeric_limits<std::uint32_t>::max();
  return job.indices.empty() ? 0 : job.indices.front();
}

// A time that is not known yet comes last.
std::int64_t or_last(std::int64_t when) {
  return when > 0 ? when : std::numeric_limits<std::int64_t>::max();
}

std::partial_ordering compare(char key, const Job& a, const Job& b) {
  switch (key) {
  case 'i':
  case 'A':
  case 'F': return std::tuple(a.job, first_index(a)) <=> std::tuple(b.job, first_index(b));
  case 'K': return first_index(a) <=> first_index(b);
  case 'j': return a.name <=> b.name;
  case 'P': return a.partition <=> b.partition;
  case 't':
  case 'T': return a.state <=> b.state;
  case 'u': return a.user <=> b.user;
  case 'U': return a.uid.value_or(0) <=> b.uid.value_or(0);
  case 'g': return a.group <=> b.group;
  case 'a': return a.account <=> b.account;
  case 'M': return or_last(b.start) <=> or_last(a.start);
  case 'S': return or_last(a.start) <=> or_last(b.start);
  case 'V': return a.submit <=> b.submit;
  case 'e': return or_last(a.end()) <=> or_last(b.end());
  case 'l': return a.limit_min <=> b.limit_min;
  case 'C': return a.cpus <=> b.cpus;
  case 'D': return a.nodes <=> b.nodes;
  case 'N':
  case 'R': return a.hosts <=> b.hosts;
  case 'r': return a.reason <=> b.reason;
  case 'p':
  case 'Q': return a.priority <=> b.priority;
  default: return std::partial_ordering::equivalent;
  }
}

void sort_by(std::vector<Job>& jobs, char key, bool descending) {
  std::ranges::stable_sort(jobs, [&](const Job& a, const Job& b) {
    const auto order = compare(key, a, b);
    return descending ? order > 0 : order < 0;
  });
}

} // namespace

void sort_jobs(std::vector<queue::Job>& jobs, std::string_view keys) {
  // Among equals the newer job comes first, and the elements of an array in their order.
  std::ranges::stable_sort(jobs, [](const Job& a, const Job& b) {
    return std::tuple(b.job, first_index(a)) < std::tuple(a.job, first_index(b));
  });
  const auto parts = split(keys, ',');
  for (auto it = parts.rbegin(); it != parts.rend(); ++it) {
    auto part = trim(*it);
    const bool descending = part.starts_with('-');
    if (part.starts_with('-') || part.starts_with('+')) part.remove_prefix(1);
    if (!part.empty()) sort_by(jobs, part.front(), descending);
  }
}

} // namespace shim::commands::squeue
