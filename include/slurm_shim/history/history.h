#pragma once
// What happened to jobs, as Slurm's accounting would tell it: Grid Engine's accounting and queue,
// overlaid with what sbatch, batch-exec and srun recorded. Owns the final states, exit codes, steps
// and the merge of live and ended runs; prints nothing. A job that neither qstat nor accounting
// lists is "not known yet", never finished. Callers: sacct, scontrol. Spec commands 1.2, 4;
// decisions 18a, 25-28.

#include "slurm_shim/ge/accounting.h"
#include "slurm_shim/queue/queue.h"
#include "slurm_shim/records/job_record.h"
#include "slurm_shim/slurm/job_id.h"
#include "slurm_shim/slurm/states.h"
#include "slurm_shim/slurm/time_limit.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shim::history {

// "3:0", "0:9".
struct ExitCode {
  int code = 0, signal = 0;
  friend bool operator==(const ExitCode&, const ExitCode&) = default;
};

// How a run ended, or that it has not.
struct Ending {
  slurm::JobState state = slurm::JobState::running;
  std::string cancelled_by; // user name, "" = not known or not cancelled
  ExitCode exit;
  std::string reason = "None"; // Slurm's word, or the engine's text in words
};

struct Step {
  std::string id; // "batch", "0"
  std::string name;
  slurm::JobState state = slurm::JobState::running;
  std::string cancelled_by;        // user name, of a step that was ended alone
  std::optional<ExitCode> exit;    // nothing: not told
  std::int64_t start = 0, end = 0; // unix seconds, 0 = not yet
  std::string hosts;               // compressed
  int nodes = 1, ntasks = 1, cpus = 1;
};

// A run of a job or of an array element, or the elements of an array that wait together.
struct Entry {
  std::uint64_t job = 0, id = 0;      // the engine's number; SLURM_JOB_ID
  std::string shown_id;               // "7", "7_3", "7_[2-5%2]"
  std::optional<std::uint32_t> task;  // the engine's; nothing: no array, or several
  std::vector<std::uint32_t> indices; // Slurm's; empty: no array
  bool together = false;
  bool earlier = false; // a run before the present one, or an older job of the same number
  bool live = false;
  int restarts = 0;
  std::string name, user, group, account, partition, qos, comment;
  Ending ending;
  ExitCode derived;                                          // the highest exit code of the steps
  std::int64_t submit = 0, eligible = 0, start = 0, end = 0; // unix seconds, 0 = not yet
  std::uint32_t limit_min = slurm::k_unlimited_minutes;
  std::string hosts; // compressed, "" = none
  int nodes = 0;     // 0 = not known
  int cpus = 1;
  std::optional<int> ntasks;                          // nothing: not asked for
  double user_cpu = 0, system_cpu = 0, total_cpu = 0; // seconds
  double max_rss = 0, max_vmem = 0;                   // bytes
  std::uint64_t memory_mib = 0;                       // requested; 0 = none
  std::string memory_per = "node";                    // node, cpu, gpu
  int gpus = 0;                                       // of the whole job
  std::string work_dir, submit_line, command;
  std::string output, error, input, submit_host, dependency;
  bool requeue = false;
  std::vector<Step> steps;

  // Seconds, up to `now` for what runs.
  [[nodiscard]] std::int64_t elapsed(std::int64_t now) const;
};

// Pure: what a record of accounting and what the job's own parts recorded say about an ending.
// `limit_s`: the time limit in force, seconds; `memory_mib`: the memory asked for. 0 = none.
[[nodiscard]] Ending ending_of(const ge::AccountingRecord& accounting,
                               const std::optional<records::JobRecord>& record,
                               std::int64_t limit_s,
                               std::uint64_t memory_mib);
// The rows under a job. `end` = 0: it runs. `owner`: the only one whom its supervisor obeys.
[[nodiscard]] std::vector<Step> steps_of(const records::JobRecord& record,
                                         const Ending& ending,
                                         std::int64_t end,
                                         const std::string& owner);

struct Request {
  std::vector<slurm::JobRef> jobs; // empty = all in the window
  std::vector<std::string> users;  // empty = everybody
  std::string caller;              // whose state folder the source has
  std::int64_t from = 0;           // runs that ended before are not asked for; 0 = all
  bool earlier_runs = false;       // also requeued runs and older jobs of the same numbers
  bool steps = true;               // read the job records for steps as well
  bool live = true;                // ask qstat as well
  std::string file;                // this accounting file alone
};

struct History {
  std::vector<Entry> entries; // by id
  std::vector<std::string> warnings;
};
// An entry as a line of the queue, for the commands that show both.
[[nodiscard]] queue::Job as_job(const Entry& entry);

// Whether the job that a user named is this one (or has this element).
[[nodiscard]] bool matches(const slurm::JobRef& ref, const Entry& entry);

// Errors: the engine or its accounting could not be asked.
[[nodiscard]] Result<History> load(const queue::Source& source, const Request& request);

} // namespace shim::history
