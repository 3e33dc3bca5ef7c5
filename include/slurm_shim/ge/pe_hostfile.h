#pragma once
// PE_HOSTFILE: the hosts and slots of a job, as the engine wrote them. Owns its parsing and the
// short names that are shown in place of the engine's. Pure. Spec environment 2, decisions 19a, 20.

#include "slurm_shim/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace shim::ge {

struct GrantedHost {
  std::string name; // exactly as the engine writes it; identifies the machine
  int slots = 0;
  std::string queue_instance;                      // "all.q@node1" or ""
  std::string processor_range;                     // opaque: "0-7", "UNDEFINED", "<nullptr>" or ""
  [[nodiscard]] std::string cluster_queue() const; // up to '@'
};

// One entry per machine in file order: lines of the same name are added up, hosts without slots are
// left out. Errors say the line, or that no host is left.
[[nodiscard]] Result<std::vector<GrantedHost>> parse_pe_hostfile(std::string_view text);

// The host the script runs on first (`own_host` in full or short where the file has it, else the
// file's first line), the others in natural order.
void order_hosts(std::vector<GrantedHost>& hosts, std::string_view own_host);

// What comes before the first dot; an IPv4 address is not cut.
[[nodiscard]] std::string_view short_host_name(std::string_view name);
// Names to show, in the order given: short where that stays unique among these hosts, else exact.
[[nodiscard]] std::vector<std::string> display_names(const std::vector<GrantedHost>& hosts);

} // namespace shim::ge
