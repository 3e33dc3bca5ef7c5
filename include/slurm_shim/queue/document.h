#pragma once
// Jobs as JSON: the document that clients read, with the keys and kinds of values of the compat
// version (24.05: numbers as {set, infinite, number}, job_state as a list). Pure. Callers: squeue
// and scontrol with --json. Decision 25a.

#include "slurm_shim/queue/queue.h"

#include <string>
#include <string_view>
#include <vector>

namespace shim::queue {

struct DocumentHead {
  std::string version;            // "24.05.0"
  std::string user;               // who asks
  std::vector<std::string> words; // the command line
  std::string cluster;
  std::int64_t now = 0; // unix seconds
};

// With line feed. Bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string jobs_document(const std::vector<const Job*>& jobs,
                                        const DocumentHead& head);

} // namespace shim::queue
