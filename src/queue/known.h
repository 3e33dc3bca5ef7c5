#pragma once
// What is known of a job beside qstat's list: the submit record and, when asked, `qstat -j`.

#include "slurm_shim/ge/jobs.h"
#include "slurm_shim/queue/queue.h"
#include "slurm_shim/records/submit_record.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

namespace shim::queue {

// The set of an array: Slurm's indices, and whether the engine numbers its tasks by them.
struct ArrayMap {
  std::vector<std::uint32_t> indices; // empty = not known: the engine's numbers are shown
  bool native = true;
  std::uint32_t throttle = 0;
  // Index and 0-based position of the engine's task.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> of_task(std::uint32_t task) const;
};

struct Known {
  std::shared_ptr<const records::SubmitRecord> record;
  std::int64_t submitted = 0;
  const ge::JobFacts* facts = nullptr; // into the owner's list
  ArrayMap array;
};

// Holds an entry only for jobs of which something is known: of tens of thousands of other users'
// jobs there is nothing to keep.
class KnownJobs {
public:
  // Reads submit files and asks `qstat -j` about the jobs whose rows do not tell enough.
  [[nodiscard]] static Result<KnownJobs>
  collect(const Source& source, const Request& request, const std::vector<ge::JobRow>& rows);
  [[nodiscard]] const Known& of(std::uint64_t job) const;

private:
  void read_submit_files(const Source& source, const std::vector<ge::JobRow>& rows);
  ge::JobFactsList m_facts;
  std::unordered_map<std::uint64_t, Known> m_known;
};

} // namespace shim::queue
