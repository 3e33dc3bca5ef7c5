#pragma once
// Lists of countable things: --gres, --gpus*, --licenses, and --gpu-bind. Only the form is checked;
// what exists on the cluster is the caller's question. Pure. vectors/03 geo.09x-131

#include "slurm_shim/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::slurm {

struct Gres {
  std::string name; // "gpu"
  std::string type; // "a100" or ""
  std::uint64_t count = 1;
  bool operator==(const Gres&) const = default;
};

// --gres: name[:type][:count],...; "none" gives an empty list; a leading "gres:" of a TRES form is
// dropped. A last part that is no number is a type. Error (refused, exit 1): "Invalid generic
// resource (gres) specification".
[[nodiscard]] Result<std::vector<Gres>> parse_gres(std::string_view text);
// --gpus, --gpus-per-node, --gpus-per-task, --gpus-per-socket: [type:]count,... as Gres named
// "gpu".
[[nodiscard]] Result<std::vector<Gres>> parse_gpus(std::string_view text);
[[nodiscard]] std::uint64_t total_count(const std::vector<Gres>& list);
// "gres:gpu:a100:2,gres:gpu:1": the TRES form that scontrol shows.
[[nodiscard]] std::string format_tres(const std::vector<Gres>& list);

// --gpu-bind: [gpu:][verbose,]{closest|none|per_task[:<n>]|single:<n>|map_gpu:<list>|
// mask_gpu:<list>}. Lists are separated by commas, n*k stands for k times n; masks are hexadecimal
// with or without 0x, of up to 64 devices. Error (usage, exit 255): "Invalid --gpu-bind argument:
// gpu:bogus".
struct GpuBind {
  enum class Kind { none, closest, per_task, single, map, mask } kind = Kind::none;
  int count = 0; // per_task: GPUs of each task, 0 = not given; single: tasks of each GPU
  std::vector<std::uint64_t> list{}; // map: positions; mask: bits
  bool verbose = false;
  bool operator==(const GpuBind&) const = default;
};
[[nodiscard]] Result<GpuBind> parse_gpu_bind(std::string_view text);

// The list of a binding: numbers, or hexadecimal masks. Nothing when it is none.
[[nodiscard]] std::optional<std::vector<std::uint64_t>> parse_bind_list(std::string_view text,
                                                                        bool masks);

struct License {
  std::string name; // may carry "@server"
  int count = 1;
  bool operator==(const License&) const = default;
};
// -L name[:count],name[:count] (also ';'). Error (refused, exit 1): "Batch job submission failed:
// Invalid license specification".
[[nodiscard]] Result<std::vector<License>> parse_licenses(std::string_view text);

} // namespace shim::slurm
