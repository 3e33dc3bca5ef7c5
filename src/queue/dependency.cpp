#include "slurm_shim/queue/dependency.h"

#include "slurm_shim/records/job_record.h"
#include "slurm_shim/records/submit_file.h"

#include <algorithm>
#include <optional>

namespace shim::queue {

namespace {

using slurm::Dependency;
using slurm::DependencyType;

// How one of the caller's own jobs ended; nothing while it has not, or when its record is not
// there.
std::optional<bool> has_succeeded(const records::StatePaths& state, std::int64_t job) {
  const auto file = records::read_submit_file(state, job);
  if (!file || file->tasks) return std::nullopt; // arrays are judged where the job starts
  const auto record = records::read_job_record(state, {job, std::nullopt}, std::nullopt);
  if (!record || record->tok != file->tok || !record->end) return std::nullopt;
  const auto& end = *record->end;
  if (end.reason == "requeue") return std::nullopt;
  return end.reason == "exit" && end.code == 0 && end.sig == 0;
}

bool is_judged(const Dependency& item) {
  return item.type == DependencyType::after_ok || item.type == DependencyType::after_not_ok;
}

bool has_failed(const Source& source, const Dependency& item) {
  if (!source.state || !source.config.afterok_check || !is_judged(item)) return false;
  const auto succeeded = has_succeeded(*source.state, static_cast<std::int64_t>(item.job));
  return succeeded && *succeeded != (item.type == DependencyType::after_ok);
}

void append(std::string& text, const Dependency& item, std::string_view state, bool any) {
  if (!text.empty()) text += any ? '?' : ',';
  text += slurm::dependency_text({{item}, false});
  text += state;
}

} // namespace

OpenDependency open_dependency(const Source& source,
                               std::string_view dependency,
                               const std::function<bool(const Dependency&)>& waits) {
  OpenDependency open;
  const auto list = slurm::parse_dependency(dependency);
  if (!list) return open;
  // Of alternatives one is enough, and which one holds is decided where the job starts.
  if (list->any && !std::ranges::any_of(list->items, waits)) return open;
  for (const auto& item : list->items) {
    if (!list->any && has_failed(source, item)) {
      append(open.text, item, "(failed)", false);
      open.in_vain = true;
    } else if (list->any || waits(item)) {
      append(open.text, item, "(unfulfilled)", list->any);
    }
  }
  return open;
}

std::string failed_dependency(const Source& source, std::string_view dependency) {
  const auto known = open_dependency(source, dependency, [](const auto&) { return false; });
  if (known.in_vain) return known.text;
  std::string text;
  const auto list = slurm::parse_dependency(dependency);
  if (!list) return text;
  for (const auto& item : list->items)
    if (is_judged(item) || item.type == DependencyType::after_corr)
      append(text, item, "(failed)", list->any);
  return text;
}

} // namespace shim::queue
