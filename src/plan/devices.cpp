#include "slurm_shim/base/strings.h"
#include "slurm_shim/plan/plan.h"

#include <fmt/core.h>

#include <algorithm>

namespace shim::plan {
namespace {

// Up to `count` devices from position `first` on; what is not there is left out.
std::vector<int> slice(const std::vector<int>& devices, int first, int count) {
  const auto size = static_cast<int>(devices.size());
  const int from = std::min(first, size);
  const int to = std::min(from + count, size);
  return {devices.begin() + from, devices.begin() + to};
}

} // namespace

DeviceSlices
assign_devices(const std::vector<int>& devices, int local_tasks, int gpus_per_task, bool divide) {
  const int tasks = std::max(local_tasks, 1);
  const auto available = static_cast<int>(devices.size());
  DeviceSlices out;
  int share = gpus_per_task;
  if (share == 0 && divide) {
    share = available / tasks;
    out.shared = share == 0 && available > 0;
  }
  for (int local = 0; local < tasks; ++local)
    out.per_rank.push_back(share == 0 ? devices : slice(devices, local * share, share));
  return out;
}

GpuBind resolve_gpu_bind(std::string_view flag,
                         std::string_view environment,
                         bool config_per_task,
                         int gpus_per_task) {
  GpuBind bind;
  bind.gpus_per_task = gpus_per_task;
  const auto given = flag.empty() ? environment : flag;
  if (given.empty()) {
    bind.divide = config_per_task;
    return bind;
  }
  std::string_view word = given;
  constexpr std::string_view verbose = "verbose,";
  if (word.starts_with(verbose)) word.remove_prefix(verbose.size());
  const auto colon = word.find(':');
  const auto kind = to_lower(word.substr(0, colon));
  if (kind == "per_task" || kind == "per-task") {
    bind.divide = true;
    const auto count =
        colon == std::string_view::npos ? std::nullopt : parse_int<int>(word.substr(colon + 1));
    if (gpus_per_task == 0 && count.value_or(0) > 0) bind.gpus_per_task = *count;
  } else if (kind != "none") {
    bind.warnings.push_back(fmt::format(
        "--gpu-bind={} is not supported (slurm-shim); using the default binding", given));
  }
  return bind;
}

} // namespace shim::plan
