#pragma once
// Which address of the master host the steppers of other hosts dial: always a number, never a
// loopback one unless the configuration says so. Spec launch 1 "Dial address".

#include "slurm_shim/posix/runner.h"

#include <string>
#include <vector>

namespace shim::launch {

struct Interface {
  std::string name;
  std::string address; // numeric IPv4
  bool is_loopback = false;
  bool is_idle_bridge = false; // a bridge without carrier: docker0 of a host without containers
};
// IPv4 addresses of the interfaces that are up, in the kernel's order.
[[nodiscard]] std::vector<Interface> list_interfaces();

struct AddressFacts {
  std::string control_address; // configuration: address, interface or name; "" = none
  std::string layout_ip;       // nodes[0].ip; "" = unknown
  std::string master_host;     // nodes[0].host
};
struct DialAddresses {
  std::string first;
  std::vector<std::string> others; // further interfaces, same order
};
// Asks getent through the runner only when no number is known.
[[nodiscard]] DialAddresses choose_dial_address(posix::Runner& runner,
                                                const AddressFacts& facts,
                                                const std::vector<Interface>& interfaces);

} // namespace shim::launch
