#pragma once
// Distinct integer types, so that a rank is never mixed up with a local id or a node index.

#include <cstdint>

namespace shim::slurm {
enum class RankId : int {};    // global rank in a step, 0..ntasks-1 (SLURM_PROCID)
enum class LocalId : int {};   // rank's position on its host (SLURM_LOCALID)
enum class NodeIndex : int {}; // host's position in the step (SLURM_NODEID)
[[nodiscard]] constexpr int to_int(RankId v) {
  return static_cast<int>(v);
}
[[nodiscard]] constexpr int to_int(LocalId v) {
  return static_cast<int>(v);
}
[[nodiscard]] constexpr int to_int(NodeIndex v) {
  return static_cast<int>(v);
}
} // namespace shim::slurm
