#pragma once
// --cpu-bind: [{quiet|verbose},]type, where CPUs count from 0 among those that a task may use.
// Pure. Vectors 06 size.cpubind_bad, 01 env.unbuf.

#include "slurm_shim/base/result.h"

#include <string_view>
#include <vector>

namespace shim::slurm {

struct CpuBind {
  // Units above a CPU (sockets, ldoms, cores, threads, rank_ldom, ...) are `units`: each task gets
  // as many CPUs of its own as it asked for.
  enum class Kind { units, none, list } kind = Kind::units;
  std::vector<std::vector<int>> cpus{}; // map_cpu, mask_cpu: of each task in turn, starting over
  bool verbose = false;
  bool operator==(const CpuBind&) const = default;
};
// Error (usage, exit 1): `unrecognized --cpu-bind argument "bogus"`.
[[nodiscard]] Result<CpuBind> parse_cpu_bind(std::string_view text);

} // namespace shim::slurm
