#include "slurm_shim/base/strings.h"
#include "slurm_shim/rankenv/rankenv.h"

#include <fmt/core.h>

namespace shim::rankenv {
namespace {

bool has_devices(const std::vector<std::string>* devices) {
  return devices != nullptr && !devices->empty();
}

} // namespace

std::string gtids_text(const std::vector<slurm::RankId>& ranks_of_host) {
  std::string out;
  for (const auto rank : ranks_of_host) {
    if (!out.empty()) out += ',';
    out += std::to_string(slurm::to_int(rank));
  }
  return out;
}

std::vector<std::string> rank_delta(const RankFacts& facts) {
  std::vector<std::string> delta = {
      fmt::format("SLURM_PROCID={}", slurm::to_int(facts.rank)),
      fmt::format("SLURM_LOCALID={}", slurm::to_int(facts.local)),
      fmt::format("SLURM_NODEID={}", slurm::to_int(facts.node)),
      fmt::format("SLURM_GTIDS={}", facts.gtids),
      fmt::format("SLURM_CPUS_ON_NODE={}", facts.cpus_on_node),
  };
  if (facts.gpus_on_node > 0)
    delta.push_back(fmt::format("SLURM_GPUS_ON_NODE={}", facts.gpus_on_node));
  if (has_devices(facts.gpus)) delta.push_back("SLURM_STEP_GPUS=" + join(*facts.gpus, ","));
  return delta;
}

bool is_gpu_variable(std::string_view name) {
  return name.empty() || name == "CUDA_VISIBLE_DEVICES" || name == "ROCR_VISIBLE_DEVICES";
}

EnvList rank_environment(const EnvList& step_env,
                         const std::vector<std::string>& delta,
                         const HostLocal& local) {
  EnvList env = step_env;
  env.unset(k_task_pid);
  for (const auto& entry : delta)
    env.set_entry(entry);
  env.set("SLURMD_NODENAME", local.host);
  if (!local.gpu_variable.empty() && has_devices(local.gpus)) {
    remove_device_masks(env); // exactly one, whoever put the others there
    env.set(local.gpu_variable, join(*local.gpus, ","));
  }
  return env;
}

} // namespace shim::rankenv
