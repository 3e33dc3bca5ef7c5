#pragma once
// The rules that `slurm-shim ports` prints, from what is known of the cluster. Pure: facts in, text
// out. Spec install-doctor-ports 3.

#include "ports_networks.h"

#include "slurm_shim/config/config.h"

#include <optional>
#include <string>

namespace shim::commands::admin {

struct PortsFacts {
  config::PortRange control;             // TCP, execution host to execution host
  std::optional<config::PortRange> qrsh; // Grid Engine's port_range: qrsh listens there
  std::string qmaster_port, execd_port;  // as comments
  Sources sources;
  bool placeholder = false; // nobody could be asked: the sources are an example
  std::string network;      // VPC
  std::string zone;         // firewalld
};

// format: as in PortsOptions.
[[nodiscard]] std::string ports_text(const PortsFacts& facts, const std::string& format);

} // namespace shim::commands::admin
