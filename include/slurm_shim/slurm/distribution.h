#pragma once
// --distribution: block, cyclic, plane=<size>, arbitrary, with second and third level and pack.
// Pure. vectors/03 geo.14x-157

#include "slurm_shim/base/result.h"

#include <string>
#include <string_view>

namespace shim::slurm {

struct Distribution {
  enum class Nodes { unset, block, cyclic, plane, arbitrary } nodes = Nodes::unset;
  int plane_size = 0;
  std::string sockets, cores; // "", "block", "cyclic", "fcyclic"
  enum class Pack { unset, pack, nopack } packing = Pack::unset;
};

// Error (usage, exit 255): "Invalid --distribution specification"; a bad plane gives two lines, the
// first being "Invalid plane size or size not specified" (each is printed with the prefix).
[[nodiscard]] Result<Distribution> parse_distribution(std::string_view text);
// "cyclic", "plane", "block:cyclic": the value of SLURM_DISTRIBUTION.
[[nodiscard]] std::string format_distribution(const Distribution& distribution);

} // namespace shim::slurm
