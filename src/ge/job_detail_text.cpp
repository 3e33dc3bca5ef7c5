#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/job_detail.h"

#include <fmt/core.h>

namespace shim::ge {
namespace {

// "name=host=(0 1)"; nothing when it has another form.
std::optional<ResourceGrant> parse_grant(std::string_view item) {
  const auto open = item.find("=(");
  const auto first = item.find('=');
  if (open == std::string_view::npos || first == open || !item.ends_with(')')) return std::nullopt;
  ResourceGrant grant{
      std::string(trim(item.substr(0, first))),
      std::string(trim(item.substr(first + 1, open - first - 1))),
      {},
  };
  for (const auto id : split_words(item.substr(open + 2, item.size() - open - 3)))
    grant.ids.emplace_back(id);
  return grant;
}

// Grants of several hosts and complexes share one line; ids are separated by blanks, so that a
// comma ends a grant.
void parse_map(std::string_view value, std::vector<ResourceGrant>& out) {
  for (const auto item : split(value, ','))
    if (auto grant = parse_grant(trim(item))) out.push_back(std::move(*grant));
}

void parse_requests(std::string_view value, std::vector<ResourceRequest>& out) {
  for (const auto item : split(value, ',')) {
    const auto eq = item.find('=');
    if (eq == std::string_view::npos) continue;
    if (const auto amount = parse_memory_value(trim(item.substr(eq + 1))))
      out.push_back({std::string(trim(item.substr(0, eq))), *amount});
  }
}

struct Line {
  std::string_view key;  // "" = goes on with the key above
  std::string_view task; // "5" in front of the colon, or ""
  std::string_view value;
};

Line parse_line(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return {};
  Line out;
  out.value = trim(line.substr(colon + 1));
  auto head = trim(line.substr(0, colon));
  const auto blank = head.find_last_of(" \t");
  const auto last = blank == std::string_view::npos ? head : head.substr(blank + 1);
  if (is_digits(last)) {
    out.task = last;
    head = blank == std::string_view::npos ? std::string_view{} : trim(head.substr(0, blank));
  }
  if (!line.starts_with(' ') && !line.starts_with('\t')) out.key = head;
  return out;
}

} // namespace

Result<JobDetail> parse_job_detail_text(std::string_view text, const JobTask& which) {
  JobDetail detail;
  const auto job = std::to_string(which.job);
  const auto task = std::to_string(which.task);
  bool is_job = false;
  bool seen = false;
  std::string_view key;
  for (const auto raw : split(text, '\n')) {
    const auto line = parse_line(raw);
    if (!line.key.empty()) key = line.key;
    if (key == "job_number") {
      is_job = line.value == job;
      seen = seen || is_job;
    }
    if (!is_job) continue;
    if (key == "resource_map" && line.task == task) parse_map(line.value, detail.grants);
    // The two names of one line: 9.x and 8.1.9.
    if (key == "hard_resource_list" || key == "hard resource_list")
      parse_requests(line.value, detail.hard_requests);
  }
  if (!seen) return fail(ErrorKind::not_found, fmt::format("qstat -j {}: no such job", which.job));
  return detail;
}

} // namespace shim::ge
