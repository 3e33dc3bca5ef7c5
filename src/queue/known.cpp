#include "known.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/records/submit_file.h"
#include "slurm_shim/slurm/array_spec.h"

#include <algorithm>

namespace shim::queue {

namespace {

// More jobs than this are not asked about one by one: their names and reasons stay qstat's.
constexpr std::size_t k_max_described = 1000;

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

// Whether qstat's row and the submit file leave something open that squeue shows.
bool needs_facts(const ge::JobRow& row, const Known& known) {
  if (row.pending && row.state.find('h') != std::string::npos && row.predecessors.empty())
    return true; // who holds it?
  if (known.record) return false;
  return row.pending || !row.tasks.empty() || row.name.find('_') != std::string::npos;
}

void add_submit_file(const Source& source, std::uint64_t job, Known& known) {
  if (!source.state) return;
  const auto file = records::read_submit_file(*source.state, static_cast<std::int64_t>(job));
  if (!file) return;
  auto record = records::SubmitRecord::decode(file->req);
  if (!record) return;
  known.record = std::move(*record);
  known.submitted = file->sub;
}

void complete(Known& known) {
  if (!known.record && known.facts != nullptr && !known.facts->submit_record.empty())
    if (auto record = records::SubmitRecord::decode(known.facts->submit_record))
      known.record = std::move(*record);
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

Result<KnownJobs> KnownJobs::collect(const Source& source,
                                     const Request& request,
                                     const std::vector<ge::JobRow>& rows) {
  KnownJobs jobs;
  std::vector<std::uint64_t> ask;
  for (const auto& row : rows) {
    const auto [it, fresh] = jobs.m_known.try_emplace(row.job);
    if (fresh) add_submit_file(source, row.job, it->second);
    if ((request.facts || needs_facts(row, it->second)) && std::ranges::count(ask, row.job) == 0 &&
        ask.size() < k_max_described)
      ask.push_back(row.job);
  }
  TRY_ASSIGN(jobs.m_facts, ge::describe_jobs(source.tools, ask));
  for (auto& [job, known] : jobs.m_known) {
    known.facts = jobs.m_facts.find(job);
    complete(known);
  }
  return jobs;
}

const Known& KnownJobs::of(std::uint64_t job) const {
  static const Known none;
  const auto it = m_known.find(job);
  return it == m_known.end() ? none : it->second;
}

} // namespace shim::queue
