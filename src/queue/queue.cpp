#include "slurm_shim/queue/queue.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/array_spec.h"

#include <algorithm>

namespace shim::queue {

std::int64_t Job::end() const {
  if (start == 0 || limit_min == slurm::k_unlimited_minutes) return 0;
  return start + std::int64_t{limit_min} * 60;
}

std::string Job::asked(std::string_view key) const {
  return record ? record->get_or(key, "") : std::string();
}

ArrayWidth array_width(const EnvList& env) {
  const auto bytes = parse_int<std::uint32_t>(env.get_or("SLURM_BITSTR_LEN", ""));
  if (!bytes) return {};
  return {.id = 0, .indices = *bytes == 0 ? 0 : *bytes - 1};
}

std::string display_index(const Job& job, const ArrayWidth& width) {
  constexpr std::string_view k_more = "...";
  if (!job.array()) return "N/A";
  auto text = slurm::format_array_indices(job.indices, 0);
  if (width.indices != 0 && text.size() > width.indices) {
    text.resize(width.indices - std::min(k_more.size(), width.indices));
    text += k_more.substr(0, width.indices);
  }
  if (job.together && job.throttle != 0) text += "%" + std::to_string(job.throttle);
  return text;
}

std::string display_id(const Job& job, const ArrayWidth& width) {
  auto text = std::to_string(job.job);
  if (job.array()) {
    const auto index = display_index(job, width);
    text += job.together ? "_[" + index + "]" : "_" + index;
  }
  if (width.id != 0 && text.size() > width.id) text.resize(width.id);
  return text;
}

bool matches(const slurm::JobRef& ref, const Job& job) {
  if (ref.job != job.job) return false;
  if (ref.element) {
    const auto id = slurm::element_job_id(job.job, *ref.element);
    // An element that waits with others has no line of its own: its task is in theirs.
    return id == job.id ||
           (job.together && std::ranges::find(job.tasks, *ref.element + 1) != job.tasks.end());
  }
  if (ref.indices.empty()) return true;
  return std::ranges::any_of(job.indices, [&](std::uint32_t index) {
    return std::ranges::find(ref.indices, index) != ref.indices.end();
  });
}

} // namespace shim::queue
