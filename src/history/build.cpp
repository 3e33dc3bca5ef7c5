#include "build.h"

#include "requests.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/job_detail.h"
#include "slurm_shim/queue/dependency.h"
#include "slurm_shim/records/cancel_note.h"
#include "slurm_shim/slurm/array_spec.h"
#include "slurm_shim/slurm/hostlist.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace shim::history {

namespace {

constexpr double k_mib = 1024.0 * 1024.0;
constexpr std::int64_t k_patience_s = 60; // until a job is in the queue, or in accounting

int int_of(const records::SubmitRecord& record, std::string_view key) {
  const auto value = record.get_int(key);
  return value && *value > 0 && *value <= std::numeric_limits<int>::max() ? static_cast<int>(*value)
                                                                          : 0;
}

// The engine's default account is nobody's.
std::string account_of(const std::string& account, const std::string& project) {
  if (!account.empty() && account != "sge") return account;
  return project;
}

std::string partition_of(const Sources& from, const std::string& queue, const std::string& asked) {
  const auto& config = from.engine.config;
  const auto* partition = config.find_partition(asked);
  if (partition != nullptr && (queue.empty() || partition->queue == queue)) return asked;
  if (!queue.empty()) return config.partition_of_queue(queue);
  return asked.empty() ? config.default_partition_name() : asked;
}

int gpus_of(const records::SubmitRecord& record, const Entry& entry) {
  if (const int total = int_of(record, "gpus"); total > 0) return total;
  if (const int node = int_of(record, "gpn"); node > 0) return node * std::max(1, entry.nodes);
  return int_of(record, "gpt") * std::max(1, entry.ntasks.value_or(1));
}

std::string words_of(const std::vector<std::string>& words) {
  return join(words, " ");
}

// What sbatch was asked for. Geometry that is known better (from the grant) stays.
void add_submission(const Submission& submission, Entry& entry) {
  const auto& record = submission.record;
  entry.name = record.get_or("name", entry.name);
  entry.account = record.get_or("acct", entry.account);
  entry.qos = record.get_or("qos", "");
  entry.comment = record.get_or("comment", "");
  entry.submit = submission.file.sub;
  if (const auto limit = record.get_int("time"); limit && *limit > 0)
    entry.limit_min =
        static_cast<std::uint32_t>(std::min<long long>(*limit, slurm::k_unlimited_minutes));
  if (entry.nodes == 0) entry.nodes = int_of(record, "nodes");
  if (const int tasks = int_of(record, "ntasks"); tasks > 0) entry.ntasks = tasks;
  if (const auto memory = record.get_int("mem"); memory && *memory > 0)
    entry.memory_mib = static_cast<std::uint64_t>(*memory);
  entry.memory_per = record.get_or("memper", "node");
  entry.gpus = gpus_of(record, entry);
  entry.work_dir = submission.work_dir();
  entry.submit_line = words_of(submission.file.cmd);
  entry.command = record.get_or("script", record.get_or("cmd", ""));
  entry.output = record.get_or("out", "");
  entry.error = record.get_or("err", entry.output);
  entry.input = record.get_or("in", "/dev/null");
  entry.submit_host = record.get_or("shost", submission.file.host);
  entry.dependency = record.get_or("dep", "");
  entry.requeue = record.get_or("requeue", "0") == "1";
}

void add_record(const records::JobRecord& record, Entry& entry) {
  if (!record.start.hosts.empty()) entry.hosts = record.start.hosts;
  if (record.start.nodes > 0) entry.nodes = record.start.nodes;
  entry.restarts = record.run;
  for (const auto& step : record.steps)
    if (step.end && step.end->max_code > entry.derived.code)
      entry.derived.code = step.end->max_code;
}

// Slurm's numbering of an element; without the submit file the engine's numbers have to do.
void add_element(const Sources& from,
                 const Submission* submission,
                 std::uint32_t task,
                 Entry& entry) {
  entry.task = task;
  std::pair<std::uint32_t, std::uint32_t> place{task, task == 0 ? 0 : task - 1};
  if (submission != nullptr && submission->array()) place = submission->of_task(task);
  entry.indices = {place.first};
  entry.shown_id = std::to_string(entry.job) + "_" + std::to_string(place.first);
  if (from.engine.config.array_job_ids == "unique")
    entry.id = slurm::element_job_id(entry.job, place.second);
}

// OCS keeps the command line: a name that qsub could not take travels in the job's context.
std::string context_name(std::string_view command) {
  constexpr std::string_view k_key = "SLURM_NAME=";
  const auto at = command.find(k_key);
  if (at == std::string_view::npos) return {};
  const auto value = command.substr(at + k_key.size());
  return percent_decode(value.substr(0, value.find_first_of(", "))).value_or("");
}

void add_requests(const Sources& from, std::string_view category, Entry& entry) {
  const auto limit = duration_of(requested(category, "h_rt"));
  if (limit > 0) entry.limit_min = static_cast<std::uint32_t>((limit + 59) / 60);
  const auto& complex = from.engine.config.memory_complex;
  if (const auto bytes = ge::parse_memory_value(requested(category, complex)); bytes && *bytes > 0)
    entry.memory_mib = static_cast<std::uint64_t>(std::llround(*bytes * entry.cpus / k_mib));
  const auto gpus =
      ge::parse_memory_value(requested(category, from.engine.config.gpu.gres_complex));
  if (gpus && *gpus > 0) entry.gpus = static_cast<int>(std::lround(*gpus * entry.cpus));
}

Entry entry_of(std::uint64_t job) {
  Entry entry;
  entry.job = entry.id = job;
  entry.shown_id = std::to_string(job);
  return entry;
}

std::uint64_t enforced_memory(const Entry& entry) {
  return entry.memory_per == "cpu" ? entry.memory_mib * static_cast<std::uint64_t>(entry.cpus)
                                   : entry.memory_mib;
}

// Of a job that has ended only a dependency that made it end is left.
void reduce_dependency(const Sources& from, Entry& entry) {
  entry.dependency = entry.ending.reason == "DependencyNeverSatisfied"
                         ? queue::failed_dependency(from.engine, entry.dependency)
                         : "";
}

} // namespace

Entry of_accounting(const Sources& from, const ge::AccountingRecord& record) {
  const auto* submission = from.submissions.find(record.job, 0);
  // A requeue is recorded with the moment of the requeue: the start has to lie behind instead.
  if (submission != nullptr && !ge::is_requeue(record))
    submission = from.submissions.find(record.job, record.submit);
  auto entry = entry_of(record.job);
  if (record.task != 0) add_element(from, submission, record.task, entry);
  entry.name = context_name(record.command);
  if (entry.name.empty()) entry.name = record.name;
  entry.user = record.owner;
  entry.group = record.group;
  entry.account = account_of(record.account, record.project);
  entry.submit = record.submit;
  entry.start = record.start;
  entry.end = record.end;
  entry.hosts = record.host;
  entry.cpus = std::max(1, record.slots);
  entry.nodes = record.pe.empty() || record.slots == 1 ? 1 : 0;
  entry.user_cpu = record.user_cpu;
  entry.system_cpu = record.system_cpu;
  entry.total_cpu = std::max(record.cpu, record.user_cpu + record.system_cpu);
  entry.max_rss = record.max_rss;
  entry.max_vmem = record.max_vmem;
  add_requests(from, record.category, entry);
  auto limit_s = duration_of(requested(record.category, "h_rt"));
  if (submission != nullptr) {
    add_submission(*submission, entry);
    if (limit_s == 0 && entry.limit_min != slurm::k_unlimited_minutes)
      limit_s = std::int64_t{entry.limit_min} * 60;
  }
  entry.partition = partition_of(
      from, record.queue, submission != nullptr ? submission->record.get_or("part", "") : "");
  entry.eligible = entry.submit;
  std::optional<records::JobRecord> told;
  if (submission != nullptr) told = from.submissions.record(record.job, entry.task, record.start);
  if (told) add_record(*told, entry);
  entry.ending = ending_of(record, told, limit_s, enforced_memory(entry));
  reduce_dependency(from, entry);
  if (told && from.request.steps && !ge::is_requeue(record))
    entry.steps = steps_of(*told, entry.ending, entry.end, entry.user);
  if (entry.start == 0) entry.start = entry.end; // failed before it began
  return entry;
}

void settle_requeued(const Sources& from, Entry& entry) {
  entry.live = true;
  if (!from.engine.state || from.submissions.find(entry.job, entry.submit) == nullptr) return;
  const auto cancelled = [&](const std::string& user, std::int64_t when) {
    entry.live = false;
    entry.ending = {slurm::JobState::cancelled, user, {}, "None"};
    entry.end = when;
    entry.start = 0; // of the run that would have come
    entry.hosts.clear();
    entry.steps.clear();
    ++entry.restarts;
  };
  for (const auto& note :
       records::read_cancel_notes(*from.engine.state, static_cast<std::int64_t>(entry.job)))
    if (note.t >= entry.end && note.covers(entry.task.value_or(0)))
      return cancelled(note.user, note.t);
  if (from.request.file.empty() && from.engine.now - entry.end > k_patience_s)
    cancelled(entry.user, entry.end);
}

Entry of_queue(const Sources& from, const queue::Job& job) {
  auto entry = entry_of(job.job);
  entry.id = job.id;
  entry.shown_id = queue::display_id(job);
  entry.live = true;
  entry.indices = job.indices;
  entry.together = job.together;
  if (job.tasks.size() == 1 && !job.together) entry.task = job.tasks.front();
  if (job.together) { // Slurm's accounting does not cut the list
    entry.shown_id = std::to_string(job.job) + "_[" +
                     slurm::format_array_indices(job.indices, job.throttle) + "]";
  }
  entry.name = job.name;
  entry.user = job.user;
  entry.group = job.group;
  entry.account = job.account;
  entry.partition = job.partition;
  entry.submit = job.submit;
  entry.start = job.pending() ? 0 : job.start;
  entry.limit_min = job.limit_min;
  entry.nodes = job.nodes;
  entry.cpus = job.cpus;
  entry.hosts = slurm::compress_hostlist(job.hosts);
  entry.ending.state = job.state;
  entry.ending.reason = job.reason;
  const auto submitted = job.submit != 0 ? job.submit : 0;
  if (const auto* submission = from.submissions.find(job.job, submitted)) {
    add_submission(*submission, entry);
    entry.dependency = job.dependency;
    entry.nodes = job.nodes;
    if (!job.pending())
      if (auto record = from.submissions.record(job.job, entry.task, job.start)) {
        add_record(*record, entry);
        if (from.request.steps) entry.steps = steps_of(*record, entry.ending, 0, entry.user);
      }
  }
  entry.eligible = job.held() ? 0 : std::max(job.begin, job.submit);
  return entry;
}

namespace {

// Neither the queue nor accounting knows it. The record of its supervisor decides; a job that never
// started was deleted while it waited, which leaves no other trace.
Ending between(const Sources& from,
               const Submission& submission,
               const std::optional<records::JobRecord>& record,
               std::uint32_t task,
               Entry& entry) {
  constexpr std::int64_t k_day = 86400;
  const auto now = from.engine.now;
  if (record && record->end && record->end->reason != "requeue") {
    entry.end = record->end->t_ms / 1000;
    ge::AccountingRecord nothing_yet;
    nothing_yet.job = entry.job;
    nothing_yet.owner = entry.user;
    return ending_of(nothing_yet, record, 0, 0);
  }
  for (const auto& note :
       records::read_cancel_notes(*from.engine.state, static_cast<std::int64_t>(entry.job)))
    if (!record && note.covers(task)) {
      entry.end = note.t;
      return {slurm::JobState::cancelled, note.user, {}, "None"};
    }
  entry.live = true;
  const auto since = record ? record->start.t_ms / 1000 : submission.file.sub;
  const auto longest =
      entry.limit_min == slurm::k_unlimited_minutes ? 0 : std::int64_t{entry.limit_min} * 60;
  const bool recorded = submission.record.get_or("rec", "1") != "0";
  if (now - since > longest + k_day || (!record && recorded && now - since > k_patience_s)) {
    entry.live = false;
    return {slurm::JobState::cancelled, entry.user, {}, "None"};
  }
  return {slurm::JobState::completing, "", {}, "None"};
}

} // namespace

std::vector<Entry> of_submission(const Sources& from,
                                 const Submission& submission,
                                 const std::vector<std::uint32_t>& covered) {
  std::vector<Entry> entries;
  const auto job = static_cast<std::uint64_t>(submission.file.job);
  const auto add = [&](std::uint32_t task) {
    if (std::ranges::find(covered, task) != covered.end()) return;
    auto entry = entry_of(job);
    if (task != 0) add_element(from, &submission, task, entry);
    entry.user = from.request.caller;
    add_submission(submission, entry);
    entry.nodes = std::max(1, entry.nodes);
    entry.eligible = entry.submit;
    entry.partition = partition_of(from, "", submission.record.get_or("part", ""));
    entry.cpus =
        std::max(1, entry.ntasks.value_or(1)) * std::max(1, int_of(submission.record, "cpt"));
    const auto record = from.submissions.record(job, entry.task, 0);
    if (record) {
      entry.start = record->start.t_ms / 1000;
      if (record->start.cpus > 0) entry.cpus = record->start.cpus;
      add_record(*record, entry);
    }
    entry.ending = between(from, submission, record, task, entry);
    reduce_dependency(from, entry);
    if (record && from.request.steps)
      entry.steps = steps_of(*record, entry.ending, entry.live ? 0 : entry.end, entry.user);
    // Elements that were cancelled before any of them began are one row.
    if (!entries.empty() && !record && !entries.back().start && task != 0 &&
        entries.back().ending.state == entry.ending.state &&
        entry.ending.state == slurm::JobState::cancelled &&
        entries.back().ending.cancelled_by == entry.ending.cancelled_by) {
      auto& last = entries.back();
      last.indices.insert(last.indices.end(), entry.indices.begin(), entry.indices.end());
      last.task.reset();
      last.together = true;
      last.id = job;
      last.shown_id = std::to_string(job) + "_[" +
                      slurm::format_array_indices(last.indices, submission.throttle) + "]";
      return;
    }
    entries.push_back(std::move(entry));
  };
  if (!submission.array()) add(0);
  for (std::size_t i = 0; i < submission.indices.size(); ++i)
    add(submission.task_of(i));
  return entries;
}

} // namespace shim::history
