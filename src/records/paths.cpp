#include "slurm_shim/records/paths.h"

#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"

#include <algorithm>

namespace shim::records {

std::string JobKey::stem() const {
  std::string out = std::to_string(job);
  if (task) out += "." + std::to_string(*task);
  return out;
}

std::string StatePaths::submit(std::string_view tok, std::string_view suffix) const {
  std::string out = m_root + "/submit/";
  out += tok;
  out += suffix;
  return out;
}

std::string StatePaths::submit_file(std::int64_t job) const {
  return m_root + "/jobs/" + std::to_string(job) + ".submit";
}

std::string StatePaths::job_record(const JobKey& key) const {
  return m_root + "/jobs/" + key.stem() + ".jsonl";
}

std::string StatePaths::mailbox(const JobKey& key) const {
  return m_root + "/jobs/" + key.stem() + ".mbox";
}

JobFolder JobFolder::from_env(const EnvList& env) {
  return JobFolder(env.get_or("TMPDIR", "/tmp") + "/slurm_shim");
}

std::string JobFolder::step_file(int step) const {
  return m_root + "/steps/" + std::to_string(step) + ".json";
}

std::string JobFolder::step_requests(int step) const {
  return m_root + "/steps/" + std::to_string(step) + ".req";
}

Result<StatePaths>
locate_state(posix::Runner& runner, const EnvList& env, const std::string& job_records) {
  if (!job_records.empty() && job_records != "off") {
    if (!job_records.starts_with('/'))
      return fail(ErrorKind::config,
                  "job_records: \"" + job_records + R"(" is neither "off" nor an absolute path)");
    const auto user = posix::user_name(runner, env);
    if (user.empty() || user == "." || user == ".." || user.find('/') != std::string::npos)
      return fail(ErrorKind::config, "job_records: no folder for the user name \"" + user + "\"");
    return StatePaths(posix::absolute(user, job_records));
  }
  const auto home = posix::home_directory(runner, env);
  if (!home.starts_with('/'))
    return fail(ErrorKind::unavailable,
                "no home directory for the job records: HOME is \"" + home + "\"");
  return StatePaths(
      posix::absolute(".local/state/slurm-shim/" + env.get_or("SGE_CELL", "default"), home));
}

Result<void> make_state_folders(const StatePaths& state) {
  TRY(posix::make_directories(state.submit_dir()));
  return posix::make_directories(state.jobs_dir());
}

std::string new_token() {
  return posix::random_hex(8);
}

bool is_token(std::string_view text) {
  return text.size() == 16 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

} // namespace shim::records
