#include "slurm_shim/queue/shown.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/slurm/memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace shim::queue {

namespace {

constexpr double k_priority_scale = 100000;

// MiB in all; 0 = none asked.
std::uint64_t memory_in_all(const Job& job) {
  const auto asked = parse_int<std::uint64_t>(job.asked("mem")).value_or(0);
  if (asked == 0)
    return job.record ? 0 : job.slot_memory_mib * static_cast<std::uint64_t>(job.cpus);
  const auto per = job.asked("memper");
  return asked * static_cast<std::uint64_t>(per == "cpu" ? job.cpus : job.nodes);
}

} // namespace

int gpus_of(const Job& job) {
  const auto of = [&](std::string_view key) { return parse_int<int>(job.asked(key)).value_or(0); };
  if (of("gpus") > 0) return of("gpus");
  if (of("gpn") > 0) return of("gpn") * job.nodes;
  if (of("gpt") > 0) return of("gpt") * job.ntasks;
  return static_cast<int>(std::lround(job.slot_gpus * job.cpus));
}

std::vector<Share> shares_of(const Job& job) {
  const auto count = static_cast<int>(job.hosts.size());
  const auto per_node = parse_int<std::int64_t>(job.asked("mem")).value_or(0);
  const int gpus = gpus_of(job);
  std::vector<Share> shares;
  for (int i = 0; i < count; ++i) {
    const auto dealt = [&](int all) { return all / count + (i < all % count ? 1 : 0); };
    Share share{job.hosts[static_cast<std::size_t>(i)], dealt(job.cpus), dealt(gpus)};
    share.memory_mib = static_cast<std::int64_t>(job.slot_memory_mib) * share.cpus;
    if (job.record)
      share.memory_mib = job.asked("memper") == "cpu" ? per_node * share.cpus : per_node;
    shares.push_back(std::move(share));
  }
  return shares;
}

std::string gpus_asked(const Job& job, std::string_view key) {
  const auto count = job.asked(key);
  if (count.empty()) return "";
  const auto type = job.asked("gtype");
  return "gres:gpu:" + (type.empty() ? "" : type + ":") + count;
}

std::string tres_of(const Job& job) {
  auto text = fmt::format("cpu={}", job.cpus);
  if (const auto memory = memory_in_all(job); memory > 0)
    text += ",mem=" + slurm::format_memory(memory);
  text += fmt::format(",node={},billing={}", job.nodes, job.cpus);
  if (const int gpus = gpus_of(job); gpus > 0) text += fmt::format(",gres/gpu={}", gpus);
  return text;
}

std::string memory_of(const Job& job) {
  if (job.record)
    return slurm::format_memory(parse_int<std::uint64_t>(job.asked("mem")).value_or(0));
  return slurm::format_memory(job.slot_memory_mib);
}

std::string gres_per_node(const Job& job) {
  if (auto tres = job.asked("tres"); !tres.empty()) return tres;
  if (auto gpus = gpus_asked(job, "gpn"); !gpus.empty()) return gpus;
  if (job.record || job.slot_gpus == 0) return "";
  return "gres:gpu:" + std::to_string(gpus_of(job) / std::max(job.nodes, 1));
}

std::string file_of(const Job& job, const std::string& pattern) {
  std::string out;
  const auto index = job.indices.size() == 1 ? std::to_string(job.indices[0]) : "4294967294";
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char verb = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[++i] : '\0';
    switch (verb) {
    case '\0': out += pattern[i]; break;
    case 'j': out += std::to_string(job.id); break;
    case 'A': out += std::to_string(job.job); break;
    case 'a': out += index; break;
    case 'x': out += job.name; break;
    case 'u': out += job.user; break;
    case '%': out += '%'; break;
    default: out += {'%', verb};
    }
  }
  return out.empty() ? out : posix::absolute(out, job.work_dir);
}

std::int64_t start_of(const Job& job, std::int64_t now) {
  if (!job.pending()) return job.start;
  if (job.expected_start > 0) return job.expected_start;
  return job.begin > now ? job.begin : 0;
}

bool Job::held() const {
  return pending() && (reason.starts_with("JobHeld") || reason.starts_with("Dependency") ||
                       reason == k_requeued_held);
}

std::int64_t seconds_used(const Job& job, std::int64_t now) {
  if (job.pending() || job.start == 0) return 0;
  return std::max<std::int64_t>(0, (job.ended > 0 ? job.ended : now) - job.start);
}

std::int64_t end_of(const Job& job) {
  if (job.ended > 0) return job.ended;
  if (job.expected_start > 0 && job.limit_min != slurm::k_unlimited_minutes)
    return job.expected_start + std::int64_t{job.limit_min} * 60;
  return job.end();
}

long priority_number(const Job& job) {
  return std::lround(job.priority * k_priority_scale);
}

} // namespace shim::queue
