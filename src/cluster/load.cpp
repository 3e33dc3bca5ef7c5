#include "slurm_shim/base/strings.h"
#include "slurm_shim/cluster/cluster.h"
#include "slurm_shim/ge/qconf.h"
#include "slurm_shim/slurm/hostlist.h"

#include <algorithm>

namespace shim::cluster {

Result<Cluster> load(const ge::Tools& tools, const config::Config& config, bool devices) {
  TRY_ASSIGN(const auto hosts, ge::list_hosts(tools));
  auto cluster = assemble(config, hosts);
  if (!devices) return cluster;
  // qhost tells what is left of a consumable; the whole of it stands in the host's configuration.
  std::vector<std::string> names;
  for (const auto& host : hosts.hosts)
    if (host.resource(config.gpu.gres_complex) != nullptr) names.push_back(host.name);
  slurm::sort_hosts(names);
  TRY_ASSIGN(const auto capacities,
             ge::Qconf(tools).host_capacities(names, config.gpu.gres_complex));
  for (auto& node : cluster.nodes)
    if (const auto it = capacities.find(node.name); it != capacities.end()) {
      const int total = static_cast<int>(it->second);
      node.gpus_used = std::max(0, total - node.gpus);
      node.gpus = std::max(total, node.gpus);
    }
  return cluster;
}

} // namespace shim::cluster
