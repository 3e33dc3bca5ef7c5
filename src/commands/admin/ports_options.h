#pragma once
// The words of `slurm-shim ports`. Spec install-doctor-ports 3.

#include "slurm_shim/base/result.h"
#include "slurm_shim/config/config.h"

#include <optional>
#include <string>
#include <vector>

namespace shim::commands::admin {

struct PortsOptions {
  std::string format = "text";      // text | firewalld | gcp | nftables | iptables | json
  std::vector<std::string> sources; // networks, addresses, host names; empty = the execution hosts
  std::string network = "default";  // of the VPC
  std::string zone = "public";      // of firewalld
  std::optional<config::PortRange> range;
  std::optional<std::string> help; // to print instead of working
};
[[nodiscard]] Result<PortsOptions> parse_ports_options(const std::vector<std::string>& words);

} // namespace shim::commands::admin
