#pragma once
// J/batch.json: the decoded submit record, completed by the hook with what the job's host knows.
// batch-exec and srun read it instead of any configuration; a job from plain qsub has none.
// Spec job-files 4.

#include "slurm_shim/base/result.h"
#include "slurm_shim/records/paths.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shim::records {

struct SignalRequest { // --signal
  int num = 0;
  std::int64_t lead_s = 60;
  bool batch = false; // B: only the script gets it
  friend bool operator==(const SignalRequest&, const SignalRequest&) = default;
};

// Why a job that the engine has started may not run.
struct Never {
  std::string reason; // of the end line: dependency, deadline
  std::string text;   // for the user
  friend bool operator==(const Never&, const Never&) = default;
};

struct BatchJob {
  std::string tok;
  std::int64_t job = 0; // engine's numbers
  std::optional<std::int64_t> task;
  std::int64_t slurm_id = 0;         // this element's (decision 18a)
  std::optional<std::int64_t> index; // Slurm's array index
  std::string dir;                   // S
  bool env = true;                   // an .env file was written
  std::string name, user, host;
  std::string out = "slurm-%j.out"; // patterns as given, not expanded
  std::optional<std::string> err;   // nothing: joined with out
  std::string in = "/dev/null";
  bool open_append = false;
  std::string wd;
  std::optional<SignalRequest> signal;
  std::optional<std::int64_t> limit_s;
  std::int64_t kill_wait_ms = 30000;
  bool records = true;
  bool requeue = true;
  std::optional<std::int64_t> umask;           // of the submitting process; nothing: the engine's
  std::optional<std::int64_t> login_timeout_s; // --get-user-env: what the login shell has is added
  int restart = 0;
  std::int64_t start_s = 0;   // unix; when the hook ran, from where limit_s counts; 0 = unknown
  std::optional<Never> never; // the job must end at once
  // An interactive job's command; its descriptors 0-2 are qrsh's. Empty: a batch job.
  std::vector<std::string> command;
  [[nodiscard]] bool interactive() const { return !command.empty(); }
  [[nodiscard]] JobKey key() const { return {job, task}; }
};

// One line of JSON, every key present, null = not asked. Strings that are not UTF-8 travel as
// {"b64": "..."}, as in the step specification.
[[nodiscard]] std::string to_json(const BatchJob& job);
// tok, job, dir and wd must be there; another `v` is refused. `where` names the file in messages.
[[nodiscard]] Result<BatchJob> batch_job_from_json(std::string_view json, const std::string& where);

[[nodiscard]] Result<void> write_batch_json(const JobFolder& folder, const BatchJob& job);
// not_found: the job is not sbatch's; refused: foreign.
[[nodiscard]] Result<BatchJob> read_batch_json(const JobFolder& folder);

} // namespace shim::records
