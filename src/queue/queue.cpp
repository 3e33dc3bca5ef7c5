#include "slurm_shim/queue/queue.h"

#include "slurm_shim/slurm/array_spec.h"

#include <algorithm>

namespace shim::queue {

namespace {
constexpr std::size_t k_max_id_bytes = 31; // what Slurm's own buffer holds
} // namespace

std::int64_t Job::end() const {
  if (start == 0 || limit_min == slurm::k_unlimited_minutes) return 0;
  return start + std::int64_t{limit_min} * 60;
}

std::string display_index(const Job& job) {
  if (!job.array()) return "N/A";
  return slurm::format_array_indices(job.indices, job.together ? job.throttle : 0);
}

std::string display_id(const Job& job) {
  auto text = std::to_string(job.job);
  if (job.array()) {
    const auto index = display_index(job);
    text += job.together ? "_[" + index + "]" : "_" + index;
  }
  if (text.size() > k_max_id_bytes) text.resize(k_max_id_bytes);
  return text;
}

bool matches(const slurm::JobRef& ref, const Job& job) {
  if (ref.job != job.job) return false;
  if (ref.element) {
    const auto id = slurm::element_job_id(job.job, *ref.element);
    return id == job.id || (job.tasks.size() > 1 && job.together);
  }
  if (ref.indices.empty()) return true;
  return std::ranges::any_of(job.indices, [&](std::uint32_t index) {
    return std::ranges::find(ref.indices, index) != ref.indices.end();
  });
}

} // namespace shim::queue
