#include "slurm_shim/config/devices.h"

#include "slurm_shim/posix/files.h"

namespace shim::config {

std::string device_variable(const GpuConfig& gpu) {
  if (!gpu.isolation_shim) return {};
  const bool is_amd = gpu.vendor == "amd" || (gpu.vendor == "auto" && posix::exists("/dev/kfd") &&
                                              !posix::exists("/dev/nvidiactl"));
  return is_amd ? "ROCR_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES";
}

} // namespace shim::config
