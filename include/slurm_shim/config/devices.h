#pragma once
// What the configuration means for the devices of this host. Decision 15.

#include "slurm_shim/config/config.h"

#include <string>

namespace shim::config {

// The one variable that masks devices on this host, "" when the shim masks none: by gpu.vendor, and
// for `auto` by what the kernel has here (/dev/kfd without /dev/nvidiactl is AMD).
[[nodiscard]] std::string device_variable(const GpuConfig& gpu);

} // namespace shim::config
