#pragma once
// The device options of a step and their variables as one request. Pure. Spec placement 3; vectors
// 01 env.gpn*, env.gpt*, env.gres*, env.ntpg, 06 size.gres*.

#include "request.h"

#include <string>
#include <vector>

namespace shim::commands::srun {

// --gpus, --gpus-per-node, --gpus-per-task, --gres, --ntasks-per-gpu and --gpu-bind. What comes
// from variables of the job is its share and never an excess. `warnings`: whole lines.
[[nodiscard]] Result<void> read_devices(const Input& input,
                                        const config::Config& config,
                                        Request& request,
                                        std::vector<std::string>& warnings);

// Where nobody gives devices out by name: the request goes, with a notice where one was typed.
void drop_devices(Request& request, std::string_view why, std::vector<std::string>& notices);
// Whether the step asks for devices by itself, not by a variable of its job.
[[nodiscard]] bool asks_for_devices(const Request& request);

} // namespace shim::commands::srun
