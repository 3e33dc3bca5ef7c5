#pragma once
// S/jobs/<id>[.<task>].jsonl: what happened to a job, one JSON object a line. Written by batch-exec
// and srun on the master host; read by sacct, squeue, scontrol, sbatch --wait. A write that fails
// never changes an exit code. Spec job-files 6, decision 27.

#include "slurm_shim/base/result.h"
#include "slurm_shim/records/batch_json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::records {

struct StartEvent {
  std::int64_t t_ms = 0; // unix time; in the file: seconds with 3 decimals
  std::int64_t job = 0;
  std::optional<std::int64_t> task;
  std::int64_t slurm_id = 0;
  std::string host;
  std::string hosts; // compressed
  int nodes = 0, ntasks = 0, cpus = 0;
  std::int64_t pid = 0;
  std::string out, err; // paths as opened
};

struct StepStartEvent {
  std::int64_t t_ms = 0;
  int step = 0;
  std::string name, cmd, hosts;
  int nodes = 0, ntasks = 0, cpus = 0;
};

struct StepEndEvent {
  std::int64_t t_ms = 0;
  int step = 0;
  int code = 0, sig = 0, max_code = 0;
  std::string reason = "exit"; // exit, lost, launch, cancel, timeout
};

struct RequestEvent { // an answered mailbox request
  std::int64_t t_ms = 0;
  std::string id, verb;
  int rc = 0; // 0 done, 1 refused
  std::string text;
};

// What is about to end the job; the engine may leave no time for more than this.
struct EndingEvent {
  std::int64_t t_ms = 0;
  int sig = 0;
  // timeout (the limit is near), cancel (scancel), notify (the engine's warning before a KILL)
  std::string reason;
};

struct EndEvent {
  std::int64_t t_ms = 0;
  int code = 0, sig = 0; // the script's true code, also 99 and 100
  // exit, timeout, cancel, requeue; without ever having run: environment, output, dependency,
  // deadline
  std::string reason = "exit";
};

// Appends lines of one run of one job. Does nothing (successfully) where records are off.
class JobRecordWriter {
public:
  explicit JobRecordWriter(const BatchJob& job);
  [[nodiscard]] Result<void> start(const StartEvent& event) const;
  [[nodiscard]] Result<void> step_start(const StepStartEvent& event) const;
  [[nodiscard]] Result<void> step_end(const StepEndEvent& event) const;
  [[nodiscard]] Result<void> request(const RequestEvent& event) const;
  [[nodiscard]] Result<void> ending(const EndingEvent& event) const;
  [[nodiscard]] Result<void> end(const EndEvent& event) const;

private:
  std::string m_path; // "" = records are off
  std::string m_tok;
  int m_run = 0;
};

struct StepRecord {
  StepStartEvent start;
  std::optional<StepEndEvent> end; // nothing: it ended with the job
};

// The present run: the lines of the last start's tok with the highest run number.
struct JobRecord {
  std::string tok;
  int run = 0;
  StartEvent start;
  std::vector<StepRecord> steps; // in order of their start
  std::vector<RequestEvent> requests;
  std::optional<EndingEvent> ending; // the last
  std::optional<EndEvent> end;       // nothing: runs, or was killed by the engine
};

// Lines that do not parse are skipped. nullopt: no start line, or one that is more than 300 s away
// from `engine_start_s` (job numbers are used again).
[[nodiscard]] std::optional<JobRecord> parse_job_record(std::string_view text,
                                                        std::optional<std::int64_t> engine_start_s);
// not_found when there is no file or nothing to believe in it.
[[nodiscard]] Result<JobRecord> read_job_record(const StatePaths& state,
                                                const JobKey& key,
                                                std::optional<std::int64_t> engine_start_s);
// How many start lines of `tok` the file holds: the restart count for the hook (spec job-files 4).
[[nodiscard]] int count_starts(const StatePaths& state, const JobKey& key, std::string_view tok);
// The answer to request `id`, whatever run or tok.
[[nodiscard]] std::optional<RequestEvent> find_answer(std::string_view text, std::string_view id);

} // namespace shim::records
