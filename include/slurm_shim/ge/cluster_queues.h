#pragma once
// The summary of cluster queues (`qstat -g c`): a line for each of them, however many hosts there
// are. Spec ge-commands 3.

#include "slurm_shim/base/result.h"
#include "slurm_shim/ge/tools.h"

#include <string>
#include <string_view>
#include <vector>

namespace shim::ge {

struct ClusterQueue {
  std::string name;
  int used = 0, total = 0; // slots
  int out_of_service = 0;  // slots of instances in one of the states c, d, s, u, E
};
[[nodiscard]] Result<std::vector<ClusterQueue>> parse_cluster_queues(std::string_view xml);
[[nodiscard]] Result<std::vector<ClusterQueue>> list_cluster_queues(const Tools& tools);

} // namespace shim::ge
