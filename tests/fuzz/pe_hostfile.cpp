// The hosts of a grant. What was read and is written again is read as the same.
#include "slurm_shim/ge/pe_hostfile.h"

#include "fuzz.h"

#include "slurm_shim/base/strings.h"

#include <set>
#include <string>

using namespace shim::ge;

void fuzz(std::string_view bytes) {
  auto hosts = parse_pe_hostfile(bytes);
  if (!hosts) return;
  std::string text;
  std::set<std::string> names;
  for (const auto& host : *hosts) {
    SHIM_ASSERT(host.slots > 0 && names.insert(host.name).second);
    text += host.name + ' ' + std::to_string(host.slots) + ' ' + host.queue_instance + ' ' +
            host.processor_range + '\n';
  }
  const auto again = parse_pe_hostfile(text);
  SHIM_ASSERT(again && again->size() == hosts->size());
  const auto own = hosts->back().name;
  order_hosts(*hosts, own);
  SHIM_ASSERT(shim::equals_ignore_case(hosts->front().name, own) && hosts->size() == names.size());
  SHIM_ASSERT(display_names(*hosts).size() == hosts->size());
}
