#include "known.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/records/submit_file.h"
#include "slurm_shim/slurm/array_spec.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_set>

#include <dirent.h>

namespace shim::queue {

namespace {

// Of more waiting jobs of several slots than this it is not asked how many nodes they want: the
// fewest that can hold their slots are shown, as Slurm does where no number was asked for.
constexpr std::size_t k_max_described = 5000;

ArrayMap map_of_spec(std::string_view spec) {
  ArrayMap map;
  const auto parsed = slurm::parse_array_spec(spec, UINT32_MAX);
  if (!parsed || !*parsed) return map;
  map.indices = (*parsed)->indices;
  map.throttle = (*parsed)->throttle;
  map.native = slurm::native_range(**parsed).has_value();
  return map;
}

ArrayMap map_of_facts(const ge::JobFacts& facts) {
  ArrayMap map;
  // Commas separate the pairs of a context, so that the list is kept with semicolons.
  if (const auto it = facts.context.find("SLURM_ARRAY"); it != facts.context.end()) {
    auto spec = percent_decode(it->second).value_or("");
    std::ranges::replace(spec, ';', ',');
    map = map_of_spec(spec);
  }
  if (map.indices.empty() && facts.array) map.indices = ge::expand_task_ranges(facts.structure);
  if (map.throttle == 0) map.throttle = static_cast<std::uint32_t>(std::max(0, facts.concurrency));
  return map;
}

// How much the list and the submit file leave open of what squeue shows.
enum class Open { nothing, geometry, meaning };
Open what_is_open(const ge::JobRow& row, bool is_recorded) {
  const bool held = row.pending && row.state.find('h') != std::string::npos;
  if (held && row.predecessors.empty()) return Open::meaning; // who holds it?
  if (is_recorded) return Open::nothing;
  // The numbering of an array, a name that the engine did not take, a time to wait for (such a job
  // has no priority yet).
  if (!row.tasks.empty() || row.name.find('_') != std::string::npos) return Open::meaning;
  if (row.pending && row.priority == 0) return Open::meaning;
  return row.pending && row.slots > 1 ? Open::geometry : Open::nothing;
}

void add_submit_file(const records::StatePaths& state, std::uint64_t job, Known& known) {
  const auto file = records::read_submit_file(state, static_cast<std::int64_t>(job));
  if (!file) return;
  auto record = records::SubmitRecord::decode(file->req);
  if (!record) return;
  known.record = std::make_shared<const records::SubmitRecord>(std::move(*record));
  known.submitted = file->sub;
}

// Job numbers are used again: a file that is older than the job tells of another one.
bool is_of(const Known& known, const ge::JobRow& row) {
  constexpr std::int64_t k_slack_s = 300;
  return row.submit == 0 || known.submitted == 0 ||
         std::abs(row.submit - known.submitted) <= k_slack_s;
}

// The jobs that have a submit file, for when looking for each of them costs more.
std::unordered_set<std::uint64_t> submitted_jobs(const records::StatePaths& state) {
  std::unordered_set<std::uint64_t> jobs;
  DIR* folder = ::opendir(state.jobs_dir().c_str());
  if (folder == nullptr) return jobs;
  while (const auto* entry = ::readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (!name.ends_with(".submit")) continue;
    if (const auto job = parse_int<std::uint64_t>(name.substr(0, name.find('.'))))
      jobs.insert(*job);
  }
  ::closedir(folder);
  return jobs;
}

void complete(Known& known) {
  if (!known.record && known.facts != nullptr && !known.facts->submit_record.empty())
    if (auto record = records::SubmitRecord::decode(known.facts->submit_record))
      known.record = std::make_shared<const records::SubmitRecord>(std::move(*record));
  if (known.facts != nullptr && known.submitted == 0) known.submitted = known.facts->submit;
  if (known.record && known.record->has("array"))
    known.array = map_of_spec(known.record->get_or("array", ""));
  else if (known.facts != nullptr)
    known.array = map_of_facts(*known.facts);
}

} // namespace

std::pair<std::uint32_t, std::uint32_t> ArrayMap::of_task(std::uint32_t task) const {
  if (!native && task >= 1 && task <= indices.size()) return {indices[task - 1], task - 1};
  const auto at = std::ranges::find(indices, task);
  if (at != indices.end())
    return {task, static_cast<std::uint32_t>(std::distance(indices.begin(), at))};
  return {task, task == 0 ? 0 : task - 1};
}

void KnownJobs::read_submit_files(const Source& source, const std::vector<ge::JobRow>& rows) {
  constexpr std::size_t k_few = 256; // as many files are opened by name
  if (!source.state) return;
  const bool few = rows.size() <= k_few;
  const auto there = few ? std::unordered_set<std::uint64_t>{} : submitted_jobs(*source.state);
  for (const auto& row : rows) {
    if ((!few && !there.contains(row.job)) || m_known.contains(row.job)) continue;
    Known known;
    add_submit_file(*source.state, row.job, known);
    if (known.record && is_of(known, row)) m_known.emplace(row.job, std::move(known));
  }
}

Result<KnownJobs> KnownJobs::collect(const Source& source,
                                     const Request& request,
                                     const std::vector<ge::JobRow>& rows) {
  KnownJobs jobs;
  jobs.read_submit_files(source, rows);
  std::vector<std::uint64_t> ask, may_ask;
  std::unordered_set<std::uint64_t> asked;
  for (const auto& row : rows) {
    const bool recorded = !jobs.m_known.empty() && jobs.m_known.contains(row.job);
    const auto open = request.facts ? Open::meaning : what_is_open(row, recorded);
    if (open == Open::nothing) continue;
    if (open == Open::geometry) {
      if (may_ask.size() <= k_max_described) may_ask.push_back(row.job);
    } else if (asked.insert(row.job).second) {
      ask.push_back(row.job);
    }
  }
  if (may_ask.size() <= k_max_described)
    for (const auto job : may_ask)
      if (asked.insert(job).second) ask.push_back(job);
  TRY_ASSIGN(jobs.m_facts, ge::describe_jobs(source.tools, ask));
  for (const auto& facts : jobs.m_facts.jobs)
    jobs.m_known[facts.job].facts = &facts;
  for (auto& [job, known] : jobs.m_known)
    complete(known);
  return jobs;
}

const Known& KnownJobs::of(std::uint64_t job) const {
  static const Known none;
  if (m_known.empty()) return none;
  const auto it = m_known.find(job);
  return it == m_known.end() ? none : it->second;
}

} // namespace shim::queue
