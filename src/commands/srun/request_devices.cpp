#include "request_devices.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/numbers.h"
#include "slurm_shim/slurm/resources.h"

#include <algorithm>
#include <limits>

namespace shim::commands::srun {

namespace {

using plan::DeviceCount;

tl::unexpected<Error> bad_gres(std::string_view how) {
  return fail(ErrorKind::refused, "Invalid " + std::string(how) + " specification");
}

Result<DeviceCount>
count_of(const Input& input, std::string_view option, const std::vector<slurm::Gres>& list) {
  const auto total = slurm::total_count(list);
  if (total > std::numeric_limits<int>::max()) return bad_gres("generic resource (gres)");
  return DeviceCount{static_cast<int>(total),
                     !input.on_command_line(option),
                     "--" + std::string(option) + "=" + input.value(option).value_or("")};
}

Result<std::optional<DeviceCount>> read_gpus(const Input& input, std::string_view option) {
  const auto text = input.value(option).value_or("");
  if (text.empty()) return std::nullopt;
  TRY_ASSIGN(const auto list, slurm::parse_gpus(text));
  TRY_ASSIGN(auto count, count_of(input, option, list));
  return count;
}

// The GPUs of --gres: nothing when it names none. Names that no configuration knows are a mistake.
Result<std::optional<DeviceCount>>
read_gres(const Input& input, const config::Config& config, std::vector<std::string>& warnings) {
  const auto text = input.value("gres").value_or("");
  if (text.empty()) return std::nullopt;
  TRY_ASSIGN(auto list, slurm::parse_gres(text));
  for (const auto& gres : list) {
    if (gres.name == "gpu") continue;
    if (!config.gres_map.contains(gres.name)) return bad_gres("generic resource (gres)");
    if (input.on_command_line("gres"))
      warnings.push_back("--gres=" + text + ": " + gres.name + " is not divided among steps");
  }
  const bool none = list.empty();
  std::erase_if(list, [](const auto& gres) { return gres.name != "gpu"; });
  if (list.empty() && !none) return std::nullopt;
  TRY_ASSIGN(auto count, count_of(input, "gres", list));
  return count;
}

// --gres goes before a --gpus-per-node of the job; both typed have to agree.
Result<std::optional<DeviceCount>> read_per_node(const Input& input,
                                                 const config::Config& config,
                                                 std::vector<std::string>& warnings) {
  TRY_ASSIGN(auto each, read_gpus(input, "gpus-per-node"));
  TRY_ASSIGN(auto gres, read_gres(input, config, warnings));
  if (!each || !gres) return each ? each : gres;
  // "none" beside a number is no list that Slurm can read.
  if (equals_ignore_case(input.value("gres").value_or(""), "none"))
    return fail(ErrorKind::refused,
                "Unable to create step for job " + input.variable("SLURM_JOB_ID") +
                    ": Invalid Trackable RESource (TRES) specification");
  if (!each->implied && !gres->implied && each->count != gres->count)
    return bad_gres("generic resource (gres)");
  return each->implied ? gres : each;
}

// How many sockets a host has is told, never asked for.
Result<void> read_per_socket(const Input& input, plan::DeviceRequest& devices) {
  TRY_ASSIGN(auto each, read_gpus(input, "gpus-per-socket"));
  if (!each || (devices.per_node && !devices.per_node->implied)) return {};
  const auto sockets = input.value("sockets-per-node").value_or("");
  if (sockets.empty())
    return fail(ErrorKind::refused,
                "--gpus-per-socket option requires --sockets-per-node specification\n"
                "Invalid generic resource (gres) specification");
  TRY_ASSIGN(const int count, slurm::parse_positive(sockets, "--sockets-per-node"));
  const auto total = std::int64_t{each->count} * count;
  if (total > std::numeric_limits<int>::max()) return bad_gres("generic resource (gres)");
  each->count = static_cast<int>(total);
  devices.per_node = std::move(each);
  return {};
}

// The GPUs that a task counts for, as a part of `gpus` on `tasks`; 0 = not known.
struct Share {
  int gpus = 0;
  int tasks = 1;
};

Share share_of_task(const plan::StepRequest& place) {
  const auto& per_task = place.devices.per_task;
  const auto& per_node = place.devices.per_node;
  const auto& total = place.devices.total;
  if (per_task) return {per_task->count, 1};
  if (per_node && place.ntasks_per_node > 0) return {per_node->count, place.ntasks_per_node};
  if (per_node && place.ntasks == 0) return {per_node->count, 1};
  if (per_node && place.nodes_min > 0)
    return {per_node->count, (place.ntasks + place.nodes_min - 1) / place.nodes_min};
  if (total && place.ntasks > 0) return {total->count, place.ntasks};
  return {};
}

// --cpus-per-gpu; what the job was asked for in this way is in its shape.
Result<void> read_cpus_per_gpu(const Input& input,
                               plan::StepRequest& place,
                               std::vector<std::string>& warnings) {
  if (!input.on_command_line("cpus-per-gpu") || input.on_command_line("cpus-per-task")) return {};
  const auto text = input.value("cpus-per-gpu").value_or("");
  TRY_ASSIGN(const int cpus, slurm::parse_positive(text, "--cpus-per-gpu"));
  const auto share = share_of_task(place);
  if (share.gpus == 0) {
    warnings.push_back("--cpus-per-gpu=" + text +
                       " has no effect: the step's GPUs and tasks are not both told");
    return {};
  }
  const auto each = std::max<std::int64_t>(1, std::int64_t{cpus} * share.gpus / share.tasks);
  TRY_ASSIGN(place.cpus_per_task, slurm::parse_positive(std::to_string(each), "--cpus-per-gpu"));
  return {};
}

// --ntasks-per-gpu: tasks share one GPU, so many on each; what was not given follows from it.
Result<void> read_tasks_per_gpu(const Input& input, plan::StepRequest& place) {
  const auto text = input.value("ntasks-per-gpu").value_or("");
  if (text.empty()) return {};
  TRY_ASSIGN(const int tasks, slurm::parse_positive(text, "--ntasks-per-gpu"));
  auto& devices = place.devices;
  if (!devices.bind) devices.bind = slurm::GpuBind{slurm::GpuBind::Kind::single, tasks, {}, false};
  if (!input.on_command_line("ntasks-per-gpu")) return {};
  const auto times = [&](int gpus) {
    return slurm::parse_positive(std::to_string(std::int64_t{gpus} * tasks), "--ntasks-per-gpu");
  };
  const bool free = !input.on_command_line("ntasks") && !input.on_command_line("ntasks-per-node");
  if (devices.total && !devices.total->implied) {
    if (!free) return {};
    TRY_ASSIGN(place.ntasks, times(devices.total->count));
  } else if (devices.per_node && !devices.per_node->implied) {
    if (!free || devices.per_node->count == 0) return {};
    TRY_ASSIGN(place.ntasks_per_node, times(devices.per_node->count));
  } else if (place.ntasks > 0) {
    devices.per_node.reset();
    devices.total =
        DeviceCount{(place.ntasks + tasks - 1) / tasks, false, "--ntasks-per-gpu=" + text};
  }
  return {};
}

Result<void> read_bind(const Input& input, Request& request, std::vector<std::string>& warnings) {
  using Kind = slurm::GpuBind::Kind;
  const auto text = input.value("gpu-bind").value_or("");
  if (text.empty()) return {};
  auto bind = slurm::parse_gpu_bind(text);
  if (!bind) {
    auto error = std::move(bind).error();
    error.exit_code = 1;
    return tl::unexpected<Error>(std::move(error));
  }
  auto& devices = request.placement.devices;
  devices.bind = *bind;
  if (bind->kind == Kind::closest)
    warnings.push_back("--gpu-bind=" + text +
                       ": which GPUs are near is not known; all ranks of a host see its devices");
  if (bind->kind == Kind::per_task && bind->count > 0 &&
      (!devices.per_task || devices.per_task->implied))
    devices.per_task =
        DeviceCount{bind->count, !input.on_command_line("gpu-bind"), "--gpu-bind=" + text};
  return {};
}

std::optional<DeviceCount> asked_count(const plan::DeviceRequest& devices) {
  for (const auto& wanted : {devices.per_task, devices.per_node, devices.total})
    if (wanted && !wanted->implied && wanted->count > 0) return wanted;
  return std::nullopt;
}

} // namespace

Result<void> read_devices(const Input& input,
                          const config::Config& config,
                          Request& request,
                          std::vector<std::string>& warnings) {
  auto& devices = request.placement.devices;
  TRY_ASSIGN(devices.per_task, read_gpus(input, "gpus-per-task"));
  TRY_ASSIGN(devices.total, read_gpus(input, "gpus"));
  TRY_ASSIGN(devices.per_node, read_per_node(input, config, warnings));
  TRY(read_per_socket(input, devices));
  if (devices.per_task && devices.per_task->count == 0) devices.per_task.reset();
  const auto of_job = slurm::parse_gpus(input.variable("SLURM_GPUS_PER_TASK"));
  if (of_job)
    devices.per_task_of_job =
        static_cast<int>(std::min<std::uint64_t>(slurm::total_count(*of_job), 65536));
  // A count of the step's own is not to be overruled by the job's.
  const auto is_own = [](const auto& wanted) { return wanted && !wanted->implied; };
  if (!is_own(devices.per_task) && (is_own(devices.per_node) || is_own(devices.total)))
    devices.per_task.reset();
  devices.divide = config.gpu.bind_per_task;
  TRY(read_bind(input, request, warnings));
  TRY(read_tasks_per_gpu(input, request.placement));
  return read_cpus_per_gpu(input, request.placement, warnings);
}

bool asks_for_devices(const Request& request) {
  return asked_count(request.placement.devices).has_value();
}

void drop_devices(Request& request, std::string_view why, std::vector<std::string>& notices) {
  auto& devices = request.placement.devices;
  if (const auto wanted = asked_count(devices))
    notices.push_back("warning: " + wanted->asked + " has no effect: " + std::string(why));
  devices = {};
}

} // namespace shim::commands::srun
