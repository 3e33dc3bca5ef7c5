#include "build.h"

#include <algorithm>
#include <map>
#include <set>

namespace shim::history {

namespace {

using Key = std::pair<std::uint64_t, std::uint32_t>; // job and the engine's task, 0 = no array

ge::AccountingSource source_of(const config::Config& config) {
  if (config.accounting_source == "qacct") return ge::AccountingSource::qacct;
  if (config.accounting_source == "jsonl") return ge::AccountingSource::file;
  return ge::AccountingSource::automatic;
}

// Remote tasks have records of their own when the PE says so: their usage is the job's.
std::vector<ge::AccountingRecord> merged(std::vector<ge::AccountingRecord> records) {
  std::map<Key, ge::AccountingRecord> waiting;
  std::size_t masters = 0; // in their order, at the beginning of the list
  for (auto& record : records) {
    const Key key{record.job, record.task};
    if (!record.master()) {
      auto& sum = waiting[key];
      sum.user_cpu += record.user_cpu;
      sum.system_cpu += record.system_cpu;
      sum.cpu += record.cpu;
      sum.max_rss = std::max(sum.max_rss, record.max_rss);
      sum.max_vmem = std::max(sum.max_vmem, record.max_vmem);
      continue;
    }
    if (const auto it = waiting.find(key); it != waiting.end()) {
      record.user_cpu += it->second.user_cpu;
      record.system_cpu += it->second.system_cpu;
      record.cpu += it->second.cpu;
      record.max_rss = std::max(record.max_rss, it->second.max_rss);
      record.max_vmem = std::max(record.max_vmem, it->second.max_vmem);
      waiting.erase(it);
    }
    if (&records[masters] != &record) records[masters] = std::move(record);
    ++masters;
  }
  records.resize(masters);
  return records;
}

bool comes_before(const Entry& a, const Entry& b) {
  if (a.job != b.job) return a.job < b.job;
  if (a.together != b.together) return a.together;
  const auto first = a.indices.empty() ? 0 : a.indices.front();
  const auto second = b.indices.empty() ? 0 : b.indices.front();
  if (first != second) return first < second;
  return a.earlier && !b.earlier;
}

// An entry is large: it is moved once, and only where the order asks for it.
void sort_by_id(std::vector<Entry>& entries) {
  if (std::ranges::is_sorted(entries, comes_before)) return;
  std::vector<Entry*> order;
  order.reserve(entries.size());
  for (auto& entry : entries)
    order.push_back(&entry);
  std::ranges::stable_sort(order,
                           [](const Entry* a, const Entry* b) { return comes_before(*a, *b); });
  std::vector<Entry> sorted;
  sorted.reserve(entries.size());
  for (auto* entry : order)
    sorted.push_back(std::move(*entry));
  entries = std::move(sorted);
}

bool wanted(const Request& request, std::uint64_t job) {
  return request.jobs.empty() ||
         std::ranges::any_of(request.jobs, [&](const auto& ref) { return ref.job == job; });
}

std::vector<Key> keys_of(const queue::Job& job) {
  std::vector<Key> keys;
  if (job.tasks.empty()) keys.emplace_back(job.job, 0);
  for (const auto task : job.tasks)
    keys.emplace_back(job.job, task);
  return keys;
}

} // namespace

bool matches(const slurm::JobRef& ref, const Entry& entry) {
  if (ref.job != entry.job) return false;
  if (ref.element)
    return slurm::element_job_id(entry.job, *ref.element) == entry.id || entry.together;
  if (ref.indices.empty()) return true;
  return std::ranges::any_of(entry.indices, [&](std::uint32_t index) {
    return std::ranges::find(ref.indices, index) != ref.indices.end();
  });
}

Result<History> load(const queue::Source& source, const Request& request) {
  History history;
  std::vector<queue::Job> live;
  if (request.live && request.file.empty()) {
    queue::Request query;
    query.users = request.users;
    for (const auto& ref : request.jobs)
      query.jobs.push_back(ref.job);
    TRY_ASSIGN(live, queue::load(source, query));
    if (!request.users.empty())
      std::erase_if(live, [&](const auto& job) {
        return std::ranges::find(request.users, job.user) == request.users.end();
      });
  }
  ge::AccountingSelection selection{.jobs = {},
                                    .owners = request.users,
                                    .since = request.from,
                                    .older_namesakes = request.earlier_runs};
  for (const auto& ref : request.jobs)
    selection.jobs.insert(ref.job);
  TRY_ASSIGN(auto accounting,
             ge::read_accounting(source.tools, source_of(source.config), selection, request.file));
  history.warnings = std::move(accounting.warnings);

  Submissions submissions(source.state);
  const Sources from{source, submissions, request};
  std::set<Key> now_live;
  std::map<std::uint64_t, std::vector<std::uint32_t>> covered;
  for (const auto& job : live) {
    for (const auto& key : keys_of(job)) {
      now_live.insert(key);
      covered[key.first].push_back(key.second);
    }
    history.entries.push_back(of_queue(from, job));
  }
  const auto runs = merged(std::move(accounting.records));
  std::map<Key, std::size_t> last; // the present run of each
  for (std::size_t i = 0; i < runs.size(); ++i)
    last[{runs[i].job, runs[i].task}] = i;
  history.entries.reserve(history.entries.size() + runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Key key{runs[i].job, runs[i].task};
    const bool earlier = now_live.contains(key) || last[key] != i;
    if (!earlier) covered[key.first].push_back(key.second);
    if (earlier && !request.earlier_runs) continue;
    auto entry = of_accounting(from, runs[i]);
    entry.earlier = earlier;
    if (!earlier && entry.ending.state == slurm::JobState::requeued) settle_requeued(from, entry);
    history.entries.push_back(std::move(entry));
  }
  const auto own = [&](std::uint64_t job) {
    if (!wanted(request, job) || !request.file.empty()) return;
    const auto* submission = submissions.find(job, 0);
    if (submission == nullptr) return;
    auto& known = covered[job];
    // Another job of the same number is there: the submit file is an old one's.
    if (!known.empty() && !submission->array()) return;
    for (auto& entry : of_submission(from, *submission, known))
      history.entries.push_back(std::move(entry));
  };
  if (!request.jobs.empty()) {
    for (const auto job : selection.jobs)
      own(job);
  } else if (request.users.empty() ||
             std::ranges::find(request.users, request.caller) != request.users.end()) {
    for (const auto job : submissions.since(request.from))
      own(job);
  }
  if (!request.jobs.empty())
    std::erase_if(history.entries, [&](const Entry& entry) {
      return std::ranges::none_of(request.jobs,
                                  [&](const auto& ref) { return matches(ref, entry); });
    });
  sort_by_id(history.entries);
  return history;
}

} // namespace shim::history
