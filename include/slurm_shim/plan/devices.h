#pragma once
// Devices of a step: how many it takes on each host, which ones the other running steps leave, and
// what each rank sees of them. Ids are those of the grant: numbers, UUIDs, MIG names. Pure. Spec
// placement 3, decision 14a; vectors 01 env.gpn*, env.gpt*, env.gres*, env.ntpg, 06 size.gpus.

#include "slurm_shim/base/result.h"
#include "slurm_shim/slurm/resources.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::plan {

using Devices = std::vector<std::string>;

// A number of devices and who asked. What only a variable of the job says is its whole share: it
// never asks for more than there is.
struct DeviceCount {
  int count = 0;
  bool implied = false;
  std::string asked; // the option as typed, "--gres=gpu:2", for messages
};

// What the step was asked for. A count per task goes before one per host, that before the total;
// with none of them the step takes all devices of its hosts.
struct DeviceRequest {
  std::optional<DeviceCount> per_task;  // --gpus-per-task, --gpu-bind=per_task:n
  std::optional<DeviceCount> per_node;  // --gpus-per-node, --gres=gpu:n; 0 = no devices
  std::optional<DeviceCount> total;     // --gpus; dealt out one by one to the step's hosts
  int per_task_of_job = 0;              // SLURM_GPUS_PER_TASK; 0 = not given
  std::optional<slurm::GpuBind> bind{}; // nothing: by the counts
  bool divide = false;                  // gpu.bind: per-task, where nothing else is said
};

// One host of the step.
struct DeviceHost {
  std::string_view host;
  const Devices* granted = nullptr;
  const Devices* held = nullptr; // by running steps that do not share
  int tasks = 0;
};

// The step's devices on each host: free ones first, in the order of the grant. `any_granted`: some
// host of the job has devices. Errors (exit 1), before anything starts: more than was granted; and,
// refused, "Requested nodes are busy" when only running steps are in the way. `share`: devices that
// others hold are taken, too.
[[nodiscard]] Result<std::vector<Devices>> choose_devices(const DeviceRequest& request,
                                                          const std::vector<DeviceHost>& hosts,
                                                          bool any_granted,
                                                          bool share);

// What each of a host's ranks sees of the step's devices there. `shared`: division was asked for,
// but there are fewer devices than tasks, so that all see all. Positions of map_gpu and bits of
// mask_gpu count the step's devices on the host from 0, lists start over when they are too short.
struct DeviceSlices {
  std::vector<Devices> per_rank;
  bool shared = false;
};
[[nodiscard]] Result<DeviceSlices> bind_devices(const DeviceRequest& request,
                                                std::string_view host,
                                                const Devices& devices,
                                                int local_tasks);

// The slices without a word of --gpu-bind: by a count per task (0 = none given), or divided evenly.
[[nodiscard]] DeviceSlices
assign_devices(const Devices& devices, int local_tasks, int gpus_per_task, bool divide);

} // namespace shim::plan
