#include "order.h"

#include "slurm_shim/base/strings.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>

namespace shim::commands::squeue {

namespace {

using queue::Job;

constexpr double k_last = std::numeric_limits<double>::max();

double first_index(const Job& job) {
  // Elements that wait together come after those that run.
  if (job.together) return k_last;
  return job.indices.empty() ? 0 : job.indices.front();
}

// A time that is not known yet comes last.
double or_last(std::int64_t when) {
  return when > 0 ? static_cast<double>(when) : k_last;
}

// When it began, is expected to, or may.
std::int64_t start_time(const Job& job) {
  return job.start > 0 ? job.start : std::max(job.expected_start, job.begin);
}

// What a letter orders by where that is a number; nothing: it is a text, or has no order.
std::optional<double> number_of(char key, const Job& job) {
  switch (key) {
  case 'i':
  case 'A':
  case 'F': return static_cast<double>(job.job);
  case 'K': return first_index(job);
  case 't':
  case 'T': return static_cast<double>(job.state);
  case 'U': return job.uid.value_or(0);
  case 'M': return job.start > 0 ? -static_cast<double>(job.start) : -k_last;
  case 'S': return or_last(start_time(job));
  case 'V': return static_cast<double>(job.submit);
  case 'e': return or_last(job.end());
  case 'l': return job.limit_min;
  case 'C': return job.cpus;
  case 'D': return job.nodes;
  case 'p':
  case 'Q': return job.priority;
  default: return std::nullopt;
  }
}

std::string text_of(char key, const Job& job) {
  switch (key) {
  case 'j': return job.name;
  case 'P': return job.partition;
  case 'u': return job.user;
  case 'g': return job.group;
  case 'a': return job.account;
  case 'r': return job.reason;
  case 'N':
  case 'R': return job.hosts.empty() ? "\xff" : join(job.hosts, ","); // without hosts: last
  default: return "";
  }
}

struct Key {
  char letter;
  bool descending;
};

std::vector<Key> keys_of(std::string_view text) {
  std::vector<Key> keys;
  for (auto part : split(text, ',')) {
    part = trim(part);
    const bool descending = part.starts_with('-');
    if (descending || part.starts_with('+')) part.remove_prefix(1);
    if (!part.empty()) keys.push_back({part.front(), descending});
  }
  return keys;
}

// The place of each job's text among all texts.
std::vector<double> ranks_of(char key, const std::vector<Job>& jobs) {
  std::unordered_map<std::string, double> rank;
  for (const auto& job : jobs)
    rank.emplace(text_of(key, job), 0);
  std::vector<const std::string*> texts;
  texts.reserve(rank.size());
  for (const auto& [text, place] : rank)
    texts.push_back(&text);
  std::ranges::sort(texts, [](const auto* a, const auto* b) { return *a < *b; });
  for (std::size_t i = 0; i < texts.size(); ++i)
    rank[*texts[i]] = static_cast<double>(i);
  std::vector<double> places;
  places.reserve(jobs.size());
  for (const auto& job : jobs)
    places.push_back(rank[text_of(key, job)]);
  return places;
}

// One column of numbers for each key: tens of thousands are compared without looking at the jobs,
// which lie far apart in memory.
class Table {
public:
  explicit Table(const std::vector<Job>& jobs) : m_jobs(jobs) {}

  void add(const Key& key) {
    std::vector<double> column;
    if (number_of(key.letter, Job{}))
      for (const auto& job : m_jobs)
        column.push_back(number_of(key.letter, job).value_or(0));
    else
      column = ranks_of(key.letter, m_jobs);
    add(std::move(column), key.descending);
    if (key.letter == 'i' || key.letter == 'A' || key.letter == 'F') add_index(key.descending);
  }

  // Among equals the newer job comes first, and the elements of an array in their order. Lists of
  // jobs that have no place yet keep the order of submission.
  void add_rest(const std::vector<Key>& keys) {
    const bool by_place =
        !keys.empty() && (keys.front().letter == 'S' || keys.front().letter == 'N');
    std::vector<double> column;
    for (const auto& job : m_jobs) {
      const auto number = static_cast<double>(job.job);
      column.push_back(by_place && job.hosts.empty() ? number : -number);
    }
    add(std::move(column), false);
    add_index(false);
  }

  [[nodiscard]] std::vector<const Job*> order() const {
    std::vector<std::size_t> places(m_jobs.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::ranges::stable_sort(places, [&](std::size_t a, std::size_t b) {
      for (const auto& column : m_columns)
        if (column[a] != column[b]) return column[a] < column[b];
      return false;
    });
    std::vector<const Job*> jobs;
    jobs.reserve(places.size());
    for (const auto place : places)
      jobs.push_back(&m_jobs[place]);
    return jobs;
  }

private:
  void add(std::vector<double> column, bool descending) {
    // A column of one value (a single partition) orders nothing.
    if (std::ranges::adjacent_find(column, std::not_equal_to{}) == column.end()) return;
    if (descending)
      for (auto& value : column)
        value = -value;
    m_columns.push_back(std::move(column));
  }
  void add_index(bool descending) {
    std::vector<double> column;
    for (const auto& job : m_jobs)
      column.push_back(first_index(job));
    add(std::move(column), descending);
  }

  const std::vector<Job>& m_jobs;
  std::vector<std::vector<double>> m_columns;
};

} // namespace

std::vector<const queue::Job*> sorted(const std::vector<queue::Job>& jobs, std::string_view text) {
  const auto keys = keys_of(text);
  Table table(jobs);
  for (const auto& key : keys)
    table.add(key);
  table.add_rest(keys);
  return table.order();
}

} // namespace shim::commands::squeue
