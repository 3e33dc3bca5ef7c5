#include "slurm_shim/submit/predecessors.h"

#include "slurm_shim/ge/accounting.h"
#include "slurm_shim/ge/holds.h"
#include "slurm_shim/ge/jobs.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/records/after_note.h"
#include "slurm_shim/records/job_record.h"
#include "slurm_shim/records/submit_file.h"
#include "slurm_shim/slurm/job_id.h"

#include <fmt/core.h>

#include <algorithm>

namespace shim::submit {

namespace {

using State = Predecessor::State;

std::vector<std::uint64_t> named_jobs(const Request& request) {
  std::vector<std::uint64_t> jobs;
  for (const auto& item : request.dependency.items) {
    if (item.type == slurm::DependencyType::singleton) continue;
    const auto job = slurm::decode_job_id(item.job).job;
    if (std::ranges::count(jobs, job) == 0) jobs.push_back(job);
  }
  return jobs;
}

Predecessor
alive(const records::StatePaths& state, const std::string& user, const ge::JobFacts& facts) {
  Predecessor job;
  job.job = facts.job;
  job.state = State::waits;
  // Of an array Slurm wants every element to have started.
  const auto elements = ge::expand_task_ranges(facts.structure).size();
  const auto running =
      std::ranges::count_if(facts.tasks, [](const auto& t) { return t.start > 0; });
  if (running > 0 && (!facts.array || static_cast<std::size_t>(running) == elements))
    job.state = State::started;
  for (const auto& task : facts.tasks)
    job.start = std::max(job.start, task.start);
  const auto id = static_cast<std::int64_t>(facts.job);
  job.tells_start = !facts.array && facts.owner == user && records::read_submit_file(state, id);
  if (facts.array && facts.structure.size() == 1) {
    const auto& range = facts.structure.front();
    job.tasks = fmt::format("{}-{}:{}", range.first, range.last, range.step);
  }
  return job;
}

Predecessor gone(const ge::Tools& tools, const records::StatePaths& state, std::uint64_t number) {
  Predecessor job;
  job.job = number;
  const auto id = static_cast<std::int64_t>(number);
  const bool submitted_here = records::read_submit_file(state, id).has_value();
  if (const auto record = records::read_job_record(state, {id, std::nullopt}, std::nullopt))
    job.start = record->start.t_ms / 1000;
  if (submitted_here || job.start > 0) {
    job.state = State::ended;
    return job;
  }
  ge::AccountingSelection selection;
  selection.jobs = {number};
  const auto past = ge::read_accounting(tools, ge::AccountingSource::automatic, selection);
  job.state = State::ended; // also without an answer: it may have existed
  if (past && past->records.empty()) job.state = State::unknown;
  if (past && !past->records.empty()) job.start = past->records.front().start;
  return job;
}

} // namespace

void ask_predecessors(const ge::Tools& tools,
                      const records::StatePaths& state,
                      const std::string& user,
                      const Request& request,
                      EngineFacts& facts) {
  const auto jobs = named_jobs(request);
  if (const auto answer = ge::describe_jobs(tools, jobs))
    for (const auto number : jobs) {
      const auto* known = answer->find(number);
      facts.predecessors.push_back(known != nullptr ? alive(state, user, *known)
                                                    : gone(tools, state, number));
    }
  const bool alone = std::ranges::any_of(request.dependency.items, [](const auto& item) {
    return item.type == slurm::DependencyType::singleton;
  });
  if (!alone) return;
  if (const auto rows = ge::list_jobs(tools, {user}, ge::TaskView::jobs))
    for (const auto& row : *rows)
      facts.own_jobs.emplace_back(row.job, row.name);
}

std::vector<std::string> wait_for_starts(const ge::Tools& tools,
                                         const records::StatePaths& state,
                                         std::int64_t job,
                                         const std::vector<StartWait>& waits) {
  std::vector<std::string> warnings;
  std::vector<std::uint64_t> numbers;
  const auto told = [&](std::uint64_t predecessor, const Error& error) {
    warnings.push_back(
        fmt::format("--dependency: after:{} waits for the end of the job, not for its start: {}",
                    predecessor,
                    error.message));
  };
  for (const auto& wait : waits) {
    numbers.push_back(wait.predecessor);
    const auto number = static_cast<std::int64_t>(wait.predecessor);
    if (auto noted = records::note_after(state, number, {job, wait.minutes}); !noted)
      told(wait.predecessor, noted.error());
  }
  // One that has started in between may have looked for the word before it was there.
  const auto now = ge::describe_jobs(tools, numbers);
  if (!now) return warnings;
  for (const auto& wait : waits) {
    const auto* facts = now->find(wait.predecessor);
    if (facts == nullptr || facts->tasks.empty() || facts->tasks.front().start == 0) continue;
    const auto start =
        wait.minutes > 0 ? facts->tasks.front().start + std::int64_t{wait.minutes} * 60 : 0;
    if (auto done =
            ge::release_from(tools, {{static_cast<std::uint64_t>(job), start}}, wait.predecessor);
        !done)
      told(wait.predecessor, done.error());
  }
  return warnings;
}

} // namespace shim::submit
