// The configuration file.
#include "slurm_shim/config/config.h"

#include "fuzz.h"

#include "slurm_shim/config/lines.h"

using namespace shim::config;

void fuzz(std::string_view bytes) {
  const auto loaded = parse(bytes, "config.yaml");
  Lines lines;
  SHIM_ASSERT(parse(bytes, "config.yaml", lines).has_value() == loaded.has_value());
  if (!loaded) {
    SHIM_ASSERT(loaded.error().message.find("config.yaml") != std::string::npos);
    return;
  }
  for (const auto& partition : loaded->config.partitions)
    SHIM_ASSERT(loaded->config.find_partition(partition.name) != nullptr);
  (void)loaded->config.default_partition_name();
  (void)loaded->config.partition_of_queue("batch.q");
}
