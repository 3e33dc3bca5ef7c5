#pragma once
// Names of everything in the two folders that the commands share: the user's state folder S (all
// hosts) and the job's folder J (the master host only). Owns names only, opens nothing. sbatch and
// the query commands compute S; inside a job it comes from the record (key dir) and nowhere else.
// Spec job-files 1.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/base/result.h"
#include "slurm_shim/posix/runner.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shim::records {

// The engine's job number and, for an array, its task number.
struct JobKey {
  std::int64_t job = 0;
  std::optional<std::int64_t> task;
  [[nodiscard]] std::string stem() const; // "4711" or "4711.3"
  friend bool operator==(const JobKey&, const JobKey&) = default;
};

class StatePaths {
public:
  explicit StatePaths(std::string root) : m_root(std::move(root)) {}
  [[nodiscard]] const std::string& root() const { return m_root; }
  [[nodiscard]] std::string submit_dir() const { return m_root + "/submit"; }
  [[nodiscard]] std::string jobs_dir() const { return m_root + "/jobs"; }
  [[nodiscard]] std::string env_file(std::string_view tok) const { return submit(tok, ".env"); }
  [[nodiscard]] std::string req_file(std::string_view tok) const { return submit(tok, ".req"); }
  [[nodiscard]] std::string log_file(std::string_view tok) const { return submit(tok, ".log"); }
  [[nodiscard]] std::string submit_file(std::int64_t job) const;
  [[nodiscard]] std::string job_record(const JobKey& key) const;
  [[nodiscard]] std::string mailbox(const JobKey& key) const;
  [[nodiscard]] std::string sweep_stamp() const { return m_root + "/.sweep"; }

private:
  [[nodiscard]] std::string submit(std::string_view tok, std::string_view suffix) const;
  std::string m_root;
};

class JobFolder {
public:
  explicit JobFolder(std::string root) : m_root(std::move(root)) {}
  // ${TMPDIR:-/tmp}/slurm_shim
  [[nodiscard]] static JobFolder from_env(const EnvList& env);
  [[nodiscard]] const std::string& root() const { return m_root; }
  [[nodiscard]] std::string shim() const { return m_root + "/shim"; }
  [[nodiscard]] std::string batch_json() const { return m_root + "/batch.json"; }
  [[nodiscard]] std::string environment() const { return m_root + "/environment"; }
  [[nodiscard]] std::string environment_failed() const { return m_root + "/environment.failed"; }
  [[nodiscard]] std::string lock() const { return m_root + "/lock"; }
  [[nodiscard]] std::string preflight() const { return m_root + "/preflight"; }
  [[nodiscard]] std::string steps_dir() const { return m_root + "/steps"; }
  [[nodiscard]] std::string step_file(int step) const;
  [[nodiscard]] std::string step_requests(int step) const;

private:
  std::string m_root;
};

// S as sbatch and the query commands see it: config `job_records` DIR gives DIR/<user>; "" and
// "off" give $HOME/.local/state/slurm-shim/<cell> (cell: SGE_CELL, else "default"). An error when
// no absolute home is known.
[[nodiscard]] Result<StatePaths>
locate_state(posix::Runner& runner, const EnvList& env, const std::string& job_records);

// S, S/submit and S/jobs, all 0700. For sbatch, before qsub.
[[nodiscard]] Result<void> make_state_folders(const StatePaths& state);

// A fresh <tok>: 16 hex digits, one per sbatch call.
[[nodiscard]] std::string new_token();
// 16 lower-case hex digits: fit to be part of a file name.
[[nodiscard]] bool is_token(std::string_view text);

} // namespace shim::records
