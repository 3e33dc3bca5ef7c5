#pragma once
// The queue as Slurm would show it: qstat's rows, completed by what sbatch recorded about a job
// (submit file of the caller's own jobs, the record in the job's environment, its context) and by
// the configuration's partitions. Owns the mapping of array tasks, job ids, names, partitions,
// reasons and geometry; prints nothing. Callers: squeue, scancel, scontrol. Spec commands 1, 2.2;
// decisions 18a, 19a, 23, 28.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/base/result.h"
#include "slurm_shim/config/config.h"
#include "slurm_shim/ge/jobs.h"
#include "slurm_shim/posix/runner.h"
#include "slurm_shim/records/paths.h"
#include "slurm_shim/records/submit_record.h"
#include "slurm_shim/slurm/job_id.h"
#include "slurm_shim/slurm/states.h"
#include "slurm_shim/slurm/time_limit.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::queue {

// The reason of a job that was held when it was requeued.
inline constexpr std::string_view k_requeued_held = "job requeued in held state";

// One line of squeue: a job, one element of an array, or the elements that still wait together.
struct Job {
  std::uint64_t job = 0;              // the engine's number
  std::uint64_t id = 0;               // SLURM_JOB_ID: of the element when it is a single one
  std::vector<std::uint32_t> tasks;   // the engine's task numbers; empty = no array
  std::vector<std::uint32_t> indices; // Slurm's, in the same order
  bool together = false;              // elements that wait together: 7_[2-5%2]
  std::uint32_t throttle = 0;
  slurm::JobState state = slurm::JobState::pending;
  std::string letters; // the engine's state
  std::string name, user, group, account, comment, partition, reason;
  std::string dependency;                        // what is open of it: "afterok:5(unfulfilled)"
  std::optional<std::uint32_t> uid, gid;         // known when facts were asked for
  std::vector<std::string> hosts;                // allocation order: the batch host first
  std::int64_t submit = 0, start = 0, begin = 0; // unix seconds, 0 = unknown
  std::uint32_t limit_min = slurm::k_unlimited_minutes;
  int nodes = 1, cpus = 1, ntasks = 1, cpus_per_task = 1;
  int tasks_per_node = 0; // 0 = not asked
  double priority = 0;
  std::string work_dir, command, input, output, error; // Slurm's patterns, "" = unknown
  std::string requested_hosts, excluded_hosts, submit_host;
  bool requeue = false;
  // Of jobs that have ended (Request::recent): when and how. 0 = has not.
  std::int64_t ended = 0;
  int exit_code = 0, exit_signal = 0;
  int derived_code = 0; // the highest exit code of its steps
  int restarts = 0;
  std::int64_t expected_start = 0; // of a job that waits with a reservation; 0 = not known
  // A request of memory or devices as the engine has it: MiB and devices of one slot; 0 = none.
  std::uint64_t slot_memory_mib = 0;
  double slot_gpus = 0;
  // What sbatch was asked for; null for jobs of which nothing is recorded.
  std::shared_ptr<const records::SubmitRecord> record;
  // A key of that record, "" when it is not there.
  [[nodiscard]] std::string asked(std::string_view key) const;
  [[nodiscard]] bool array() const { return !indices.empty(); }
  [[nodiscard]] bool pending() const { return state == slurm::JobState::pending; }
  // Somebody has to let it go, or another job has to end.
  [[nodiscard]] bool held() const;
  // When the limit ends it; 0 = never or not started.
  [[nodiscard]] std::int64_t end() const;
};

// How much of an array's waiting elements is shown, in bytes; 0 = all. What is longer is cut.
struct ArrayWidth {
  std::size_t id = 31;      // of the whole id, as in Slurm
  std::size_t indices = 63; // of the list; it ends in "..." then
  bool operator==(const ArrayWidth&) const = default;
};
// SLURM_BITSTR_LEN: a buffer of so many bytes for the list, 0 for any length; what is no such
// number counts as not set.
[[nodiscard]] ArrayWidth array_width(const EnvList& env);

// "7", "7_3", "7_[2-5%2]".
[[nodiscard]] std::string display_id(const Job& job, const ArrayWidth& width = {});
// "N/A", "3", "2-5%2".
[[nodiscard]] std::string display_index(const Job& job, const ArrayWidth& width = {});

struct Source {
  const ge::Tools& tools;
  const config::Config& config;
  std::optional<records::StatePaths> state; // submit files of the caller; nothing: not looked at
  std::int64_t now = 0;                     // unix seconds
};

struct Request {
  std::vector<std::string> users;  // empty = everybody
  std::vector<std::uint64_t> jobs; // the engine's numbers; empty = all
  bool split_arrays = false;       // one line for each waiting element
  bool facts = false;              // uid, group, paths and the like are needed of every job
  bool hosts = true;               // the hosts of jobs of several slots
  bool starts = false;             // when waiting jobs are expected to start
  bool partitions = false;         // whether a partition's state or size keeps a job waiting
};

// In qstat's order: running first. Two to four qstat calls.
[[nodiscard]] Result<std::vector<Job>> load(const Source& source, const Request& request);

// Whether the job that a user named is this one (or has this element).
[[nodiscard]] bool matches(const slurm::JobRef& ref, const Job& job);

} // namespace shim::queue
