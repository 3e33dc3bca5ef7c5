#include "slurm_shim/rankenv/rankenv.h"

#include <algorithm>
#include <array>

namespace shim::rankenv {
namespace {

// Variables that carry a job through the shim itself; a nested submission or a rank must not see
// them, or it would look like this job.
constexpr std::array<std::string_view, 2> k_private = {"SLURM_SHIM_REQ", "SLURM_SHIM_TOKEN"};

template <class Names> bool is_one_of(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool survives_none(std::string_view name) {
  return name == "TMPDIR" || name.starts_with("SLURM_");
}

} // namespace

EnvList filter_export(const EnvList& own, const slurm::ExportSpec& spec) {
  EnvList env = own;
  env.unset_if([&](std::string_view name) { return !spec.all && !survives_none(name); });
  for (const auto& name : spec.names)
    if (const auto value = own.get(name)) env.set(name, *value);
  for (const auto& [name, value] : spec.settings)
    if (!spec.all || !own.has(name)) env.set(name, value);
  env.unset_if([](std::string_view name) { return is_one_of(k_private, name); });
  return env;
}

const std::vector<std::string_view>& device_mask_variables() {
  static const std::vector<std::string_view> names = {"CUDA_VISIBLE_DEVICES",
                                                      "ROCR_VISIBLE_DEVICES",
                                                      "HIP_VISIBLE_DEVICES",
                                                      "GPU_DEVICE_ORDINAL",
                                                      "ZE_AFFINITY_MASK"};
  return names;
}

void remove_device_masks(EnvList& env) {
  env.unset_if([](std::string_view name) { return is_one_of(device_mask_variables(), name); });
}

} // namespace shim::rankenv
