#include "known.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/queue/queue.h"
#include "slurm_shim/slurm/date_time.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

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
  std::uint64_t seconds = 0;
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
  const auto asked = known.record ? known.record->get_or("part", "") : std::string();
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

Job assemble(const Assembly& on, const ge::JobRow& row) {
  const Known& known = on.known.of(row.job);
  Job job;
  job.job = job.id = row.job;
  job.letters = row.state;
  job.state = slurm::from_ge_state(row.state);
  job.name = row.name;
  job.user = row.owner;
  job.cpus = job.ntasks = std::max(row.slots, 1);
  job.priority = row.priority;
  job.start = row.start;
  job.submit = row.submit != 0 ? row.submit : known.submitted;
  job.input = "/dev/null";
  if (!row.tasks.empty()) add_array(row, known, on.source.config.array_job_ids == "unique", job);
  if (!row.pending) {
    const auto it = on.hosts.find({row.job, job.tasks.empty() ? 0 : job.tasks.front()});
    if (it != on.hosts.end())
      job.hosts = it->second;
    else if (!row.host.empty())
      job.hosts = {row.host};
    job.nodes = std::max<int>(1, static_cast<int>(job.hosts.size()));
  }
  for (const auto& [name, value] : row.requests)
    if (name == "h_rt") job.limit_min = minutes_of(value).value_or(job.limit_min);
  if (known.facts != nullptr) add_facts(*known.facts, job);
  if (known.record) add_record(*known.record, job);
  if (known.record && job.work_dir.empty()) job.work_dir = known.record->get_or("sdir", "");
  job.partition = partition_of(on, row, known);
  if (job.dependency.empty())
    for (const auto predecessor : row.predecessors)
      job.dependency +=
          (job.dependency.empty() ? "afterany:" : ",afterany:") + std::to_string(predecessor);
  return job;
}

std::string hold_reason(const ge::JobRow& row, const Known& known) {
  if (known.facts != nullptr) {
    if (known.facts->user_hold) return "JobHeldUser";
    if (known.facts->system_hold || known.facts->operator_hold) return "JobHeldAdmin";
    if (!known.facts->predecessors.empty()) return "Dependency";
  }
  return row.predecessors.empty() ? "JobHeldUser" : "Dependency";
}

// Reasons in the order in which they matter (spec commands 1.3). `first_waiting`: partitions that
// have shown their first ready job already.
std::string reason_of(const ge::JobRow& row,
                      const Known& known,
                      const Job& job,
                      std::int64_t now,
                      const std::map<std::uint64_t, std::uint32_t>& running_tasks,
                      std::set<std::string>& first_waiting) {
  if (!job.pending()) return "None";
  if (row.state.find('E') != std::string::npos) return "launch failed requeued held";
  if (row.state.find('h') != std::string::npos) return hold_reason(row, known);
  if (job.begin > now) return "BeginTime";
  const auto running = running_tasks.find(row.job);
  if (job.throttle != 0 && running != running_tasks.end() && running->second >= job.throttle)
    return "JobArrayTaskLimit";
  return first_waiting.insert(job.partition).second ? "Resources" : "Priority";
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

bool any_spread(const std::vector<ge::JobRow>& rows) {
  return std::ranges::any_of(rows, [](const auto& row) { return !row.pending && row.slots > 1; });
}

} // namespace

Result<std::vector<Job>> load(const Source& source, const Request& request) {
  TRY_ASSIGN(auto rows, ge::list_jobs(source.tools, request.users, ge::TaskView::jobs));
  if (!request.jobs.empty())
    std::erase_if(rows, [&](const auto& row) {
      return std::ranges::find(request.jobs, row.job) == request.jobs.end();
    });
  std::map<ge::TaskKey, std::vector<std::string>> hosts;
  if (any_spread(rows)) {
    TRY_ASSIGN(const auto spread, ge::list_jobs(source.tools, request.users, ge::TaskView::hosts));
    hosts = ge::hosts_of_jobs(spread);
  }
  TRY_ASSIGN(const auto known, KnownJobs::collect(source, request, rows));
  if (request.split_arrays) split_together(rows);
  std::map<std::uint64_t, std::uint32_t> running_tasks;
  for (const auto& row : rows)
    if (!row.pending && !row.tasks.empty()) ++running_tasks[row.job];
  std::vector<Job> jobs;
  std::set<std::string> first_waiting;
  const Assembly on{source, known, hosts};
  for (const auto& row : rows) {
    auto job = assemble(on, row);
    if (request.split_arrays) job.together = false;
    job.reason = reason_of(row, known.of(row.job), job, source.now, running_tasks, first_waiting);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

} // namespace shim::queue
