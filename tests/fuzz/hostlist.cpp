// Host lists in both dialects: a list of names survives being compressed.
#include "slurm_shim/slurm/hostlist.h"

#include "fuzz.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace shim::slurm;

void fuzz(std::string_view bytes) {
  if (auto hosts = expand_hostlist(bytes); hosts && hosts->size() <= 4096) {
    const auto again = expand_hostlist(compress_hostlist(*hosts));
    SHIM_ASSERT(again && *again == *hosts);
    auto sorted = *hosts;
    sort_hosts(sorted);
    SHIM_ASSERT(std::is_permutation(sorted.begin(), sorted.end(), hosts->begin(), hosts->end()));
  }
  if (const auto hosts = slurm_expand_hostlist(bytes); hosts && hosts->size() <= 4096) {
    const auto list = slurm_compress_hostlist(bytes);
    SHIM_ASSERT(list.has_value());
    const auto sorted = slurm_sorted_hostlist(bytes);
    SHIM_ASSERT(sorted.has_value());
  }
}
