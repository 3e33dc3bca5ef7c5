#include "known.h"
#include "reasons.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/job_detail.h"
#include "slurm_shim/ge/schedule.h"
#include "slurm_shim/posix/huge_pages.h"
#include "slurm_shim/queue/dependency.h"
#include "slurm_shim/queue/queue.h"
#include "slurm_shim/slurm/date_time.h"

#include <algorithm>
#include <limits>
#include <map>

namespace shim::queue {

namespace {

using slurm::JobState;

struct Assembly {
  const Source& source;
  const KnownJobs& known;
  const std::map<ge::TaskKey, std::vector<std::string>>& hosts;
};

// h_rt as it was asked for: seconds or [[hours:]minutes:]seconds, in minutes rounded up.
std::optional<std::uint32_t> minutes_of(std::string_view text) {
  std::uint64_t seconds = parse_int<std::uint32_t>(text).value_or(0);
  if (seconds == 0)
    for (const auto part : split(text, ':')) {
      const auto number = parse_int<std::uint32_t>(part);
      if (!number) return std::nullopt;
      seconds = seconds * 60 + *number;
    }
  const auto minutes = (seconds + 59) / 60;
  return minutes < slurm::k_unlimited_minutes ? std::optional(static_cast<std::uint32_t>(minutes))
                                              : std::nullopt;
}

int int_of(const records::SubmitRecord& record, std::string_view key, int fallback) {
  const auto value = record.get_int(key);
  return value && *value > 0 && *value <= std::numeric_limits<int>::max() ? static_cast<int>(*value)
                                                                          : fallback;
}

std::string partition_of(const Assembly& on, const ge::JobRow& row, const Known& known) {
  std::string queue = row.queue;
  if (queue.empty() && !row.requested_queues.empty())
    queue = row.requested_queues.front().substr(0, row.requested_queues.front().find('@'));
  auto asked = known.record ? known.record->get_or("part", "") : std::string();
  // One of several, once it is known which.
  if (row.pending && asked.find(',') != std::string::npos) return asked;
  const auto* partition = on.source.config.find_partition(asked);
  if (partition != nullptr && (queue.empty() || partition->queue == queue)) return asked;
  if (!queue.empty() && queue != "*") return on.source.config.partition_of_queue(queue);
  return asked.empty() ? on.source.config.default_partition_name() : asked;
}

void add_array(const ge::JobRow& row, const Known& known, bool unique_ids, Job& job) {
  job.tasks = ge::expand_task_ranges(row.tasks);
  job.throttle = known.array.throttle;
  for (const auto task : job.tasks)
    job.indices.push_back(known.array.of_task(task).first);
  job.together = row.pending;
  if (unique_ids && job.tasks.size() == 1)
    job.id = slurm::element_job_id(row.job, known.array.of_task(job.tasks[0]).second);
}

void add_record(const records::SubmitRecord& record, Job& job) {
  job.name = record.get_or("name", job.name);
  job.account = record.get_or("acct", job.account);
  job.comment = record.get_or("comment", "");
  job.command = record.get_or("script", record.get_or("cmd", ""));
  job.output = record.get_or("out", "");
  job.error = record.get_or("err", job.output);
  job.input = record.get_or("in", "/dev/null");
  job.dependency = record.get_or("dep", "");
  if (job.begin == 0) job.begin = record.get_int("begin").value_or(0);
  job.requested_hosts = record.get_or("reqnodes", "");
  job.excluded_hosts = record.get_or("excnodes", "");
  job.submit_host = record.get_or("shost", "");
  job.cpus_per_task = int_of(record, "cpt", 1);
  if (job.hosts.empty()) job.nodes = int_of(record, "nodes", 1);
  job.tasks_per_node = int_of(record, "npn", 0);
  job.ntasks = int_of(record, "ntasks", std::max(job.nodes, 1));
  job.requeue = record.get_or("requeue", "0") == "1";
  if (const auto limit = record.get_int("time"); limit && *limit > 0)
    job.limit_min =
        static_cast<std::uint32_t>(std::min<long long>(*limit, slurm::k_unlimited_minutes));
}

void add_facts(const ge::JobFacts& facts, Job& job) {
  job.uid = facts.uid;
  job.gid = facts.gid;
  job.group = facts.group;
  job.work_dir = facts.cwd;
  job.begin = facts.begin;
  job.requeue = facts.restart == 1;
  job.command = facts.script;
  job.output = facts.output;
  job.error = facts.merged_output || facts.error.empty() ? facts.output : facts.error;
  if (facts.account != "sge") job.account = facts.account;
  if (const auto it = facts.context.find("SLURM_NAME"); it != facts.context.end())
    job.name = percent_decode(it->second).value_or(job.name);
  if (const auto it = facts.context.find("SLURM_COMMENT"); it != facts.context.end())
    job.comment = percent_decode(it->second).value_or("");
}

void add_requests(const ge::JobRow& row, const config::Config& config, Job& job) {
  constexpr double k_mebibyte = 1024 * 1024;
  for (const auto& [name, value] : row.requests) {
    if (name == "h_rt")
      job.limit_min = minutes_of(value).value_or(job.limit_min);
    else if (name == config.memory_complex)
      job.slot_memory_mib =
          static_cast<std::uint64_t>(ge::parse_memory_value(value).value_or(0) / k_mebibyte);
    else if (name == config.gpu.gres_complex)
      job.slot_gpus = ge::parse_memory_value(value).value_or(0); // a DOUBLE counts parts
  }
}

void add_hosts(const Assembly& on, const ge::JobRow& row, Job& job) {
  if (row.pending) return;
  const auto it = on.hosts.empty()
                      ? on.hosts.end()
                      : on.hosts.find({row.job, job.tasks.empty() ? 0 : job.tasks.front()});
  if (it != on.hosts.end())
    job.hosts = it->second;
  else if (!row.host.empty())
    job.hosts = {row.host};
  job.nodes = std::max<int>(1, static_cast<int>(job.hosts.size()));
}

// The fewest hosts that hold the slots of a job, by the rule of its PE or the size of a host. Where
// nothing is known of either, one.
int least_nodes(const ge::JobRow& row, const config::Config& config, std::string_view name) {
  if (row.slots <= 1) return 1;
  int per_host = 0;
  for (const auto& partition : config.partitions) {
    const auto& pes = partition.pe_by_layout;
    if (!row.pe.empty() && row.pe == pes.pe_slots) return 1;
    for (const auto& [slots, pe] : pes.fixed)
      if (row.pe == pe) per_host = slots;
    if (per_host == 0 && partition.name == name) per_host = partition.slots_per_node;
  }
  return per_host > 0 ? (row.slots + per_host - 1) / per_host : 1;
}

// Takes what it can out of the row: there may be tens of thousands.
// Into a new job: it has some thirty strings to be moved otherwise.
void assemble(const Assembly& on, ge::JobRow& row, Job& job) {
  const Known& known = on.known.of(row.job);
  job.job = job.id = row.job;
  job.letters = row.state;
  job.state = slurm::from_ge_state(row.state);
  job.name = std::move(row.name);
  job.user = std::move(row.owner);
  job.cpus = job.ntasks = std::max(row.slots, 1);
  job.priority = row.priority;
  job.start = row.start;
  job.submit = row.submit != 0 ? row.submit : known.submitted;
  job.input = "/dev/null";
  if (!row.tasks.empty()) add_array(row, known, on.source.config.array_job_ids == "unique", job);
  add_hosts(on, row, job);
  add_requests(row, on.source.config, job);
  if (known.facts != nullptr) add_facts(*known.facts, job);
  job.record = known.record;
  if (known.record) add_record(*known.record, job);
  if (known.record && job.work_dir.empty()) job.work_dir = known.record->get_or("sdir", "");
  // A directory that was missing at submission is not what the engine was given.
  if (known.record) job.work_dir = known.record->get_or("wd", job.work_dir);
  job.partition = partition_of(on, row, known);
  if (row.pending && !known.record) job.nodes = least_nodes(row, on.source.config, job.partition);
}

// What the engine still lets a job wait for.
class Waits {
public:
  Waits(const ge::JobRow& row, const Known& known, const Job& job, std::int64_t now)
      : m_jobs(row.predecessors), m_begins_later(job.begin > now) {
    if (known.facts != nullptr)
      m_jobs.insert(
          m_jobs.end(), known.facts->predecessors.begin(), known.facts->predecessors.end());
  }
  bool operator()(const slurm::Dependency& item) const {
    // Which jobs had the name is not recorded.
    if (item.type == slurm::DependencyType::singleton) return !m_jobs.empty();
    if (item.delay_minutes > 0 && m_begins_later) return true;
    return std::ranges::count(m_jobs, slurm::decode_job_id(item.job).job) != 0;
  }
  // For a job of which nothing is recorded.
  [[nodiscard]] std::string jobs() const {
    std::string text;
    for (const auto job : m_jobs) {
      const auto item = "afterany:" + std::to_string(job);
      if (text.find(item) == std::string::npos) text += (text.empty() ? "" : ",") + item;
    }
    return text;
  }

private:
  std::vector<std::uint64_t> m_jobs;
  bool m_begins_later;
};

// Replaces what was asked for by what is open of it; true: it waits in vain.
bool reduce_dependency(const Source& source, const ge::JobRow& row, const Known& known, Job& job) {
  if (!job.pending()) {
    job.dependency.clear();
    return false;
  }
  const Waits waits(row, known, job, source.now);
  if (job.dependency.empty()) job.dependency = waits.jobs();
  if (job.dependency.empty()) return false;
  auto open = open_dependency(source, job.dependency, waits);
  job.dependency = std::move(open.text);
  return open.in_vain;
}

void split_together(std::vector<ge::JobRow>& rows) {
  std::vector<ge::JobRow> out;
  for (auto& row : rows) {
    const auto tasks = ge::expand_task_ranges(row.tasks);
    if (!row.pending || tasks.empty()) {
      out.push_back(std::move(row));
      continue;
    }
    for (const auto task : tasks) {
      out.push_back(row);
      out.back().tasks = {{task, task, 1}};
    }
  }
  rows = std::move(out);
}

template <class Value> bool allows(const std::vector<Value>& list, const Value& value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

bool any_spread(const std::vector<ge::JobRow>& rows) {
  return std::ranges::any_of(rows, [](const auto& row) { return !row.pending && row.slots > 1; });
}

} // namespace

Result<std::vector<Job>> load(const Source& source, const Request& request) {
  TRY_ASSIGN(auto rows, ge::list_jobs(source.tools, request.users, ge::TaskView::jobs));
  // Wrappers around qstat may ignore what they are asked for.
  std::erase_if(rows, [&](const auto& row) {
    return !allows(request.jobs, row.job) || !allows(request.users, row.owner);
  });
  std::map<ge::TaskKey, std::vector<std::string>> hosts;
  if (request.hosts && any_spread(rows)) {
    TRY_ASSIGN(const auto spread, ge::list_jobs(source.tools, request.users, ge::TaskView::hosts));
    hosts = ge::hosts_of_jobs(spread);
  }
  TRY_ASSIGN(const auto known, KnownJobs::collect(source, request, rows));
  if (request.split_arrays) split_together(rows);
  Reasons reasons(source, rows, request.partitions);
  std::vector<Job> jobs;
  jobs.reserve(rows.size());
  posix::expect_to_fill(jobs.data(), jobs.capacity() * sizeof(Job));
  const Assembly on{source, known, hosts};
  const auto starts = request.starts ? ge::read_schedule(source.tools.env()) : ge::ReservedStarts{};
  for (auto& row : rows) {
    auto& job = jobs.emplace_back();
    assemble(on, row, job);
    if (const auto it = job.pending() && !starts.empty()
                            ? starts.find({job.job, job.tasks.empty() ? 1 : job.tasks.front()})
                            : starts.end();
        it != starts.end())
      job.expected_start = it->second;
    if (request.split_arrays) job.together = false;
    const bool in_vain = reduce_dependency(source, row, known.of(row.job), job);
    job.reason = reasons.of(row, known.of(row.job), job, in_vain);
  }
  return jobs;
}

} // namespace shim::queue
