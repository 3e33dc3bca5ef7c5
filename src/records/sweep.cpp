#include "slurm_shim/records/sweep.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/records/submit_file.h"

#include <algorithm>
#include <map>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shim::records {

namespace {

constexpr std::int64_t k_day_s = std::int64_t{24} * 3600;
constexpr std::int64_t k_unclaimed_s = 30 * k_day_s;
constexpr std::int64_t k_job_files_s = 90 * k_day_s;

using Steady = std::chrono::steady_clock;

std::string_view before_dot(std::string_view name) {
  return name.substr(0, name.find('.'));
}

// A temporary of a writer that died.
bool is_leftover(const FoundFile& file, std::int64_t age_s) {
  return file.name.starts_with('.') && age_s > k_day_s;
}

Result<std::vector<FoundFile>> list_files(const std::string& path) {
  DIR* directory = ::opendir(path.c_str());
  if (directory == nullptr) return fail_errno(path, errno);
  std::vector<FoundFile> out;
  while (const auto* entry = ::readdir(directory)) {
    struct stat info {};
    if (::fstatat(::dirfd(directory), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISREG(info.st_mode)) out.push_back({entry->d_name, info.st_mtim.tv_sec});
  }
  ::closedir(directory);
  return out;
}

Result<void> read_submitted(const StatePaths& state, Steady::time_point deadline, SweepInput& in) {
  for (const auto& file : in.job_files) {
    if (!file.name.ends_with(".submit") || file.name.starts_with('.')) continue;
    const auto job = parse_int<std::int64_t>(before_dot(file.name));
    if (!job) continue;
    if (Steady::now() > deadline)
      return fail(ErrorKind::unavailable, state.jobs_dir() + ": no time to read all of it");
    if (const auto submit = read_submit_file(state, *job))
      in.submitted.emplace_back(submit->tok, *job);
  }
  return {};
}

int unlink_all(const std::string& directory,
               const std::vector<std::string>& names,
               Steady::time_point deadline) {
  int count = 0;
  for (const auto& name : names) {
    if (Steady::now() > deadline) break;
    if (::unlink((directory + "/" + name).c_str()) == 0) ++count;
  }
  return count;
}

} // namespace

SweepPlan plan_sweep(const SweepInput& input) {
  std::map<std::string_view, bool> claimed; // tok -> one of its jobs is alive
  for (const auto& [tok, job] : input.submitted)
    claimed[tok] = claimed[tok] || input.alive.contains(job);
  SweepPlan plan;
  for (const auto& file : input.submit_files) {
    const auto age = input.now_s - file.modified_s;
    const auto owner = claimed.find(before_dot(file.name));
    const bool goes = owner != claimed.end() ? !owner->second && age > k_day_s
                                             : is_leftover(file, age) || age > k_unclaimed_s;
    if (goes) plan.submit_names.push_back(file.name);
  }
  for (const auto& file : input.job_files) {
    const auto age = input.now_s - file.modified_s;
    const auto job = parse_int<std::int64_t>(before_dot(file.name));
    const bool alive = job && input.alive.contains(*job);
    if (is_leftover(file, age) || (!alive && age > k_job_files_s))
      plan.job_names.push_back(file.name);
  }
  return plan;
}

bool sweep_is_due(const StatePaths& state, const posix::Clock& clock) {
  struct stat info {};
  if (::stat(state.sweep_stamp().c_str(), &info) != 0) return true;
  return clock.unix_ms() / 1000 - info.st_mtim.tv_sec > k_day_s;
}

Result<int> sweep(const StatePaths& state,
                  const posix::Clock& clock,
                  const AliveJobs& alive_jobs,
                  std::chrono::milliseconds budget) {
  const auto deadline = Steady::now() + budget;
  // First the stamp, so that of many submissions at once only one sweeps.
  TRY(posix::write_file_atomic(state.sweep_stamp(), ""));
  SweepInput input;
  input.now_s = clock.unix_ms() / 1000;
  TRY_ASSIGN(input.submit_files, list_files(state.submit_dir()));
  TRY_ASSIGN(input.job_files, list_files(state.jobs_dir()));
  TRY(read_submitted(state, deadline, input));
  TRY_ASSIGN(input.alive, alive_jobs());
  const auto plan = plan_sweep(input);
  return unlink_all(state.submit_dir(), plan.submit_names, deadline) +
         unlink_all(state.jobs_dir(), plan.job_names, deadline);
}

void remove_submission(const StatePaths& state, std::string_view tok) {
  for (const auto& path : {state.env_file(tok), state.req_file(tok), state.log_file(tok)})
    ::unlink(path.c_str());
}

} // namespace shim::records
