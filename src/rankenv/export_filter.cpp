#include "slurm_shim/base/strings.h"
#include "slurm_shim/rankenv/rankenv.h"

#include <algorithm>
#include <array>

namespace shim::rankenv {
namespace {

// Variables that carry a job through the shim itself; a nested submission or a rank must not see
// them, or it would look like this job.
constexpr std::array<std::string_view, 2> k_private = {"SLURM_SHIM_REQ", "SLURM_SHIM_TOKEN"};

constexpr std::array<std::string_view, 4> k_kept_by_none = {"HOME", "USER", "PATH", "TMPDIR"};

template <class Names> bool is_one_of(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool survives_none(std::string_view name) {
  return is_one_of(k_kept_by_none, name) || name.starts_with("SLURM_");
}

// Splits at commas outside quotes and drops the quotes, so that a value may hold a comma.
std::vector<std::string> split_items(std::string_view spec) {
  std::vector<std::string> items(1);
  char quote = 0;
  for (const char c : spec) {
    if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        items.back() += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == ',') {
      items.emplace_back();
    } else {
      items.back() += c;
    }
  }
  std::erase_if(items, [](const std::string& item) { return item.empty(); });
  return items;
}

void add_item(EnvList& env, const EnvList& own, const std::string& item) {
  if (item.starts_with('=') || is_one_of(k_private, EnvList::name_of(item))) return;
  if (item.find('=') != std::string::npos) {
    env.set_entry(item);
  } else if (const auto value = own.get(item)) {
    env.set(item, *value);
  }
}

} // namespace

bool export_is_none(std::string_view spec) {
  return equals_ignore_case(spec, "NONE") || equals_ignore_case(spec, "NIL");
}

EnvList filter_export(const EnvList& own, std::string_view spec) {
  const auto items = export_is_none(spec) ? std::vector<std::string>{} : split_items(spec);
  const bool all = !export_is_none(spec) &&
                   (items.empty() || std::any_of(items.begin(), items.end(), [](const auto& item) {
                      return equals_ignore_case(item, "ALL");
                    }));
  EnvList env = own;
  env.unset_if([&](std::string_view name) {
    return is_one_of(k_private, name) || !(all || survives_none(name));
  });
  for (const auto& item : items)
    if (!equals_ignore_case(item, "ALL")) add_item(env, own, item);
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
