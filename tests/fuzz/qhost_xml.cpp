// What qhost prints as XML.
#include "fuzz.h"

#include "slurm_shim/ge/hosts.h"

void fuzz(std::string_view bytes) {
  const auto list = shim::ge::parse_host_list(bytes);
  if (!list) return;
  for (const auto& host : list->hosts)
    for (const auto& resource : host.resources)
      SHIM_ASSERT(host.resource(resource.name) != nullptr);
}
