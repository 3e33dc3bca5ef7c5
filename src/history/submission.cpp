#include "submission.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/array_spec.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <dirent.h>
#include <sys/stat.h>

namespace shim::history {

namespace {

// qsub's answer and the submit file are written within one call of sbatch.
constexpr std::int64_t k_same_submission_s = 300;
constexpr std::string_view k_suffix = ".submit";

std::optional<Submission> read(const records::StatePaths& state, std::uint64_t job) {
  auto file = records::read_submit_file(state, static_cast<std::int64_t>(job));
  if (!file) return std::nullopt;
  auto record = records::SubmitRecord::decode(file->req);
  if (!record) return std::nullopt;
  Submission submission;
  submission.file = std::move(*file);
  submission.record = std::move(*record);
  submission.native = submission.file.native;
  const auto spec = submission.record.get_or("array", "");
  if (const auto parsed = slurm::parse_array_spec(spec, UINT32_MAX); parsed && *parsed) {
    submission.indices = (*parsed)->indices;
    submission.throttle = (*parsed)->throttle;
    submission.native = slurm::native_range(**parsed).has_value();
  }
  return submission;
}

} // namespace

std::pair<std::uint32_t, std::uint32_t> Submission::of_task(std::uint32_t task) const {
  if (!native && task >= 1 && task <= indices.size()) return {indices[task - 1], task - 1};
  const auto at = std::ranges::find(indices, task);
  if (at != indices.end())
    return {task, static_cast<std::uint32_t>(std::distance(indices.begin(), at))};
  return {task, task == 0 ? 0 : task - 1};
}

std::uint32_t Submission::task_of(std::size_t position) const {
  return native ? indices[position] : static_cast<std::uint32_t>(position + 1);
}

std::string Submission::work_dir() const {
  if (const auto recorded = record.get("wd")) return {recorded->begin(), recorded->end()};
  const auto at = std::ranges::find(file.qsub, "-wd");
  if (at != file.qsub.end() && at + 1 != file.qsub.end()) return *(at + 1);
  return record.get_or("sdir", "");
}

Submissions::Submissions(std::optional<records::StatePaths> state) : m_state(std::move(state)) {
  if (!m_state) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(m_state->jobs_dir().c_str()), ::closedir);
  while (dir) {
    const auto* entry = ::readdir(dir.get());
    if (entry == nullptr) break;
    m_names.insert(entry->d_name);
  }
}

const Submission* Submissions::find(std::uint64_t job, std::int64_t submitted) {
  if (!m_state) return nullptr;
  const auto [it, fresh] = m_read.try_emplace(job);
  if (fresh && has(std::to_string(job) + std::string(k_suffix))) it->second = read(*m_state, job);
  if (!it->second) return nullptr;
  if (submitted != 0 && std::llabs(it->second->file.sub - submitted) > k_same_submission_s)
    return nullptr; // an older job of the same number
  return &*it->second;
}

std::optional<records::JobRecord> Submissions::record(std::uint64_t job,
                                                      std::optional<std::uint32_t> task,
                                                      std::int64_t start) const {
  if (!m_state) return std::nullopt;
  records::JobKey key{static_cast<std::int64_t>(job), std::nullopt};
  if (task) key.task = *task;
  if (!has(key.stem() + ".jsonl")) return std::nullopt;
  auto record = records::read_job_record(
      *m_state, key, start != 0 ? std::optional(start) : std::optional<std::int64_t>());
  return record ? std::optional(std::move(*record)) : std::nullopt;
}

std::vector<std::uint64_t> Submissions::since(std::int64_t from) const {
  std::vector<std::uint64_t> jobs;
  for (const auto& name : m_names) {
    if (!name.ends_with(k_suffix)) continue;
    const auto job =
        parse_int<std::uint64_t>(std::string_view(name).substr(0, name.size() - k_suffix.size()));
    struct stat facts {};
    if (job && ::stat((m_state->jobs_dir() + "/" + name).c_str(), &facts) == 0 &&
        facts.st_mtim.tv_sec >= from)
      jobs.push_back(*job);
  }
  return jobs;
}

} // namespace shim::history
