#pragma once
// What --dependency demands of jobs that have ended, judged when the dependent starts: the engine's
// hold only waits for their end. Pure: the hook finds out how they ended. Spec sbatch-translate
// 6.5, decision E12.

#include "slurm_shim/fabricate/fabricate.h"
#include "slurm_shim/ge/accounting.h"
#include "slurm_shim/records/job_record.h"
#include "slurm_shim/slurm/array_spec.h"
#include "slurm_shim/slurm/dependency.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shim::fabricate {

// One predecessor whose result matters.
struct Demand {
  slurm::DependencyType type = slurm::DependencyType::after_ok; // after_ok, after_not_ok, after_any
  std::int64_t job = 0;                                         // engine's number
  std::optional<std::uint64_t> element; // position in the array, of an element's own id
  std::optional<std::uint32_t> index;   // Slurm's array index
  // aftercorr: without that element in the predecessor all of it counts.
  bool corresponding = false;
  std::string text; // as the user wrote it: "afterok:12_3"
};

struct Demands {
  std::vector<Demand> items; // empty: the job may run
  bool any = false;          // one is enough
};

// Of the submit record; those that nobody knew at submission are left out, and all with config
// afterok_check: false.
[[nodiscard]] Demands demands_of(const JobFacts& facts);

enum class Ending { succeeded, failed, unknown };
struct Outcome {
  Ending ending = Ending::unknown;
  std::string how; // "ended with exit code 3", "was cancelled before it started"
};

// Of one run; nothing when the record does not tell (no end line: the engine killed it, or it was
// requeued).
[[nodiscard]] std::optional<Outcome> outcome_of(const records::JobRecord& record);
// Of the newest run of the task (0 = no array); nothing when there is none.
[[nodiscard]] std::optional<Outcome>
outcome_of(const std::vector<ge::AccountingRecord>& records, std::int64_t job, std::uint32_t task);

// The engine's task numbers that a demand is about; empty: the predecessor has no such element.
[[nodiscard]] std::vector<std::uint32_t> demanded_tasks(const Demand& demand,
                                                        const slurm::ArraySpec& array);

// "DependencyNeverSatisfied: afterok:12: job 12 ended with exit code 3"; nothing: the job may run.
// `outcomes`: one for each item.
[[nodiscard]] std::optional<std::string> verdict(const Demands& demands,
                                                 const std::vector<Outcome>& outcomes);

} // namespace shim::fabricate
