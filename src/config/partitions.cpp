#include "slurm_shim/config/config.h"

namespace shim::config {

const Partition* Config::find_partition(std::string_view name) const {
  for (const auto& partition : partitions)
    if (partition.name == name) return &partition;
  return nullptr;
}

std::string Config::partition_of_queue(std::string_view queue) const {
  if (const auto alias = partition_aliases.find(std::string(queue));
      alias != partition_aliases.end())
    return alias->second;
  const Partition* only = nullptr;
  for (const auto& partition : partitions) {
    if (partition.queue != queue) continue;
    if (only != nullptr) return std::string(queue); // two partitions share it: no name is right
    only = &partition;
  }
  return only == nullptr ? std::string(queue) : only->name;
}

std::string Config::default_partition_name() const {
  if (!default_partition.empty()) return default_partition;
  for (const auto& partition : partitions)
    if (partition.is_default) return partition.name;
  return "";
}

} // namespace shim::config
