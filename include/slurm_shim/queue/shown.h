#pragma once
// What the query commands show of a job beside its plain members. Pure. Callers: squeue, scontrol.

#include "slurm_shim/queue/queue.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shim::queue {

// "cpu=8,mem=2G,node=1,billing=8,gres/gpu=2".
[[nodiscard]] std::string tres_of(const Job& job);
// MiB on each node (or CPU) as Slurm prints it: "2G", "0".
[[nodiscard]] std::string memory_of(const Job& job);
// Output files with their patterns filled in as far as that does not depend on the host; full path.
[[nodiscard]] std::string file_of(const Job& job, const std::string& pattern);
// "gres:gpu:2" of a count that the record has (gpus, gpn, gpt), "" = not asked.
[[nodiscard]] std::string gpus_asked(const Job& job, std::string_view key);
// "gres:gpu:2" on each node; "" = not asked.
[[nodiscard]] std::string gres_per_node(const Job& job);
// Devices of the whole job; 0 = none.
[[nodiscard]] int gpus_of(const Job& job);

// What of a job lies on one of its hosts. The list does not tell how slots lie on them: they are
// dealt out evenly, the first hosts getting what is left over.
struct Share {
  std::string host;
  int cpus = 0, gpus = 0;
  std::int64_t memory_mib = 0;
  [[nodiscard]] bool is_like(const Share& other) const {
    return cpus == other.cpus && gpus == other.gpus && memory_mib == other.memory_mib;
  }
};
[[nodiscard]] std::vector<Share> shares_of(const Job& job);

// A time that is due (begin, an estimate) or was; 0 = not known.
[[nodiscard]] std::int64_t start_of(const Job& job, std::int64_t now);
[[nodiscard]] std::int64_t seconds_used(const Job& job, std::int64_t now);
// When its limit ends it, or when it ended; 0 = not known.
[[nodiscard]] std::int64_t end_of(const Job& job);
// The number that PRIORITY shows of qstat's 0.55500.
[[nodiscard]] long priority_number(const Job& job);

} // namespace shim::queue
