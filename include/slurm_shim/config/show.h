#pragma once
// A configuration as it is in effect, key by key: for `slurm-shim config show`. Pure.

#include "slurm_shim/config/config.h"

#include <string>
#include <vector>

namespace shim::config {

struct ShownValue {
  std::string path; // "gpu.vendor", "partitions.batch.queue"
  std::string json; // the value as JSON, which is YAML as well
};
// In the order of the sample file; every key the file can have, with its value or its default.
[[nodiscard]] std::vector<ShownValue> effective_values(const Config& config);

// All keys that a file can have; "*" stands for a name that the site chooses:
// "partitions.*.queue".
[[nodiscard]] std::vector<std::string> known_keys();

} // namespace shim::config
