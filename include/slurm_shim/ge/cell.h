#pragma once
// What the environment and the cell's folder say of the cluster, without asking the engine.

#include "slurm_shim/base/env_list.h"

#include <string>

namespace shim::ge {

// $SGE_CLUSTER_NAME, else what the cell's file cluster_name holds, else the cell's own name
// ("default" where $SGE_CELL is not set): spec commands 1.
[[nodiscard]] std::string cluster_name(const EnvList& env);

} // namespace shim::ge
