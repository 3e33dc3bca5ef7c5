#include "slurm_shim/launch/address.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"

#include <algorithm>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

namespace shim::launch {

namespace {

bool is_numeric_ipv4(const std::string& text) {
  in_addr address{};
  return ::inet_pton(AF_INET, text.c_str(), &address) == 1;
}

bool is_loopback(const std::string& address) {
  return address.rfind("127.", 0) == 0;
}

bool has_no_carrier(const std::string& interface) {
  const auto folder = "/sys/class/net/" + interface;
  if (!posix::exists(folder + "/bridge")) return false;
  const auto carrier = posix::read_file(folder + "/carrier", 16);
  return !carrier || trim(*carrier) != "1";
}

bool is_useful(const Interface& interface) {
  return !interface.is_loopback && !interface.is_idle_bridge;
}

// The number that `control_address` stands for; "" when it stands for nothing.
std::string resolve_configured(posix::Runner& runner,
                               const std::string& text,
                               const std::vector<Interface>& interfaces) {
  if (text.empty() || is_numeric_ipv4(text)) return text;
  for (const auto& interface : interfaces)
    if (interface.name == text) return interface.address;
  return posix::resolve_ipv4(runner, text, true).value_or("");
}

std::string find_address(posix::Runner& runner,
                         const AddressFacts& facts,
                         const std::vector<Interface>& interfaces) {
  if (auto set = resolve_configured(runner, facts.control_address, interfaces); !set.empty())
    return set;
  if (is_numeric_ipv4(facts.layout_ip) && !is_loopback(facts.layout_ip)) return facts.layout_ip;
  if (!facts.master_host.empty())
    if (auto found = posix::resolve_ipv4(runner, facts.master_host); found) return *found;
  const auto it = std::find_if(interfaces.begin(), interfaces.end(), is_useful);
  // No address at all: no other host can exist.
  return it != interfaces.end() ? it->address : "127.0.0.1";
}

} // namespace

std::vector<Interface> list_interfaces() {
  std::vector<Interface> out;
  ifaddrs* head = nullptr;
  if (::getifaddrs(&head) != 0) return out;
  for (const auto* at = head; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_INET) continue;
    if ((at->ifa_flags & IFF_UP) == 0) continue;
    char text[INET_ADDRSTRLEN];
    const auto* address = reinterpret_cast<const sockaddr_in*>(at->ifa_addr);
    if (::inet_ntop(AF_INET, &address->sin_addr, text, sizeof text) == nullptr) continue;
    out.push_back(
        {at->ifa_name, text, (at->ifa_flags & IFF_LOOPBACK) != 0, has_no_carrier(at->ifa_name)});
  }
  ::freeifaddrs(head);
  return out;
}

DialAddresses choose_dial_address(posix::Runner& runner,
                                  const AddressFacts& facts,
                                  const std::vector<Interface>& interfaces) {
  DialAddresses out;
  out.first = find_address(runner, facts, interfaces);
  for (const auto& interface : interfaces)
    if (is_useful(interface) && interface.address != out.first)
      out.others.push_back(interface.address);
  return out;
}

} // namespace shim::launch
