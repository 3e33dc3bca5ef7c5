#pragma once
// Advance reservations as qrstat lists them. Slurm names them, qsub -ar takes numbers. Spec
// sbatch-translate 5.

#include "slurm_shim/base/result.h"
#include "slurm_shim/ge/tools.h"

#include <string>
#include <string_view>
#include <vector>

namespace shim::ge {

struct Reservation {
  std::string id, name, owner; // name: "" = it was given none
  bool operator==(const Reservation&) const = default;
};
[[nodiscard]] Result<std::vector<Reservation>> parse_reservations(std::string_view xml);

// `qrstat -xml -u "*"`: everybody's. The text form cuts names at ten characters.
[[nodiscard]] Result<std::vector<Reservation>> list_reservations(const Tools& tools);

} // namespace shim::ge
