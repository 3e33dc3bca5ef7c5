#pragma once
// Why a job waits, in Slurm's words (spec commands 1.3, vectors/07 sq.reasons). Private to queue.

#include "known.h"

#include "slurm_shim/ge/cluster_queues.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace shim::queue {

// Judges the jobs of one answer, in its order: the first ready job of a partition waits for
// resources, the others for their turn.
class Reasons {
public:
  // With `partitions` the engine is asked about its cluster queues when a job is ready; when it
  // does not tell, nothing is said of them.
  Reasons(const Source& source, const std::vector<ge::JobRow>& rows, bool partitions);
  // `in_vain`: a predecessor has ended as it must not.
  [[nodiscard]] std::string
  of(const ge::JobRow& row, const Known& known, const Job& job, bool in_vain);

private:
  [[nodiscard]] std::optional<std::string> fault_of_partition(const Job& job);
  [[nodiscard]] const ge::ClusterQueue* find_queue(std::string_view name);
  [[nodiscard]] bool is_disabled(const std::string& queue);

  const Source& m_source;
  bool m_partitions;
  std::map<std::uint64_t, std::uint32_t> m_running_tasks;
  std::set<std::string, std::less<>> m_first_waiting; // partitions
  std::optional<std::vector<ge::ClusterQueue>> m_queues;
  std::map<std::string, bool, std::less<>> m_disabled;
};

} // namespace shim::queue
