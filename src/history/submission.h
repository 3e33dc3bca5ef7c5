#pragma once
// What sbatch recorded about the caller's own jobs, read once each, and the files of the state
// folder that exist at all (so that other people's jobs cost nothing).

#include "slurm_shim/queue/queue.h"
#include "slurm_shim/records/job_record.h"
#include "slurm_shim/records/paths.h"
#include "slurm_shim/records/submit_file.h"
#include "slurm_shim/records/submit_record.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace shim::history {

struct Submission {
  records::SubmitFile file;
  records::SubmitRecord record;
  std::vector<std::uint32_t> indices; // of an array; empty: none
  std::uint32_t throttle = 0;
  bool native = true; // the engine's task numbers are the indices

  [[nodiscard]] bool array() const { return !indices.empty(); }
  // Slurm's index and 0-based position of the engine's task.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> of_task(std::uint32_t task) const;
  [[nodiscard]] std::uint32_t task_of(std::size_t position) const;
  // The number after `-wd`, else where sbatch was called.
  [[nodiscard]] std::string work_dir() const;
};

class Submissions {
public:
  explicit Submissions(std::optional<records::StatePaths> state);
  // The caller's job that was submitted at about this time (0 = whenever), or nothing.
  [[nodiscard]] const Submission* find(std::uint64_t job, std::int64_t submitted);
  [[nodiscard]] std::optional<records::JobRecord>
  record(std::uint64_t job, std::optional<std::uint32_t> task, std::int64_t start) const;
  // Jobs with a submit file that was written at `from` or later.
  [[nodiscard]] std::vector<std::uint64_t> since(std::int64_t from) const;

private:
  [[nodiscard]] bool has(const std::string& name) const { return m_names.contains(name); }
  std::optional<records::StatePaths> m_state;
  std::unordered_set<std::string> m_names; // of S/jobs
  std::map<std::uint64_t, std::optional<Submission>> m_read;
};

} // namespace shim::history
