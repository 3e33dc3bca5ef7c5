#include "dependency.h"

#include "slurm_shim/fabricate/dependency.h"
#include "slurm_shim/ge/accounting.h"
#include "slurm_shim/ge/holds.h"
#include "slurm_shim/records/after_note.h"
#include "slurm_shim/records/job_record.h"
#include "slurm_shim/records/submit_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

namespace shim::commands::env {
namespace {

using fabricate::Demand;
using fabricate::Ending;
using fabricate::Outcome;

constexpr std::chrono::milliseconds k_patience{15000}; // the qmaster writes accounting in batches
constexpr std::chrono::milliseconds k_retry{500};

class Judge {
public:
  Judge(context::Context& ctx, const fabricate::JobFacts& facts)
      : m_ctx(ctx), m_tools(ctx.runner, ctx.env, facts.config.qacct_deadline),
        m_state(facts.record->get_or("dir", "")),
        m_source(facts.config.accounting_source == "qacct"   ? ge::AccountingSource::qacct
                 : facts.config.accounting_source == "jsonl" ? ge::AccountingSource::file
                                                             : ge::AccountingSource::automatic) {}

  Outcome operator()(const Demand& demand) {
    const auto file = records::read_submit_file(m_state, demand.job);
    if (!file) return of_others(demand);
    m_tok = file->tok;
    if (!file->tasks) return of_task({demand.job, std::nullopt});
    constexpr std::uint32_t k_no_limit = 4000001;
    const auto array = slurm::parse_array_spec(*file->tasks, k_no_limit);
    if (!array || !*array) return of_others(demand);
    const auto tasks = demanded_tasks(demand, **array);
    if (tasks.empty()) return {Ending::unknown, "has no such element"};
    Outcome all{Ending::succeeded, "succeeded"};
    for (const auto task : tasks) {
      const auto one = of_task({demand.job, task});
      if (one.ending == Ending::succeeded) continue;
      all = one;
      if (tasks.size() > 1) all.how = fmt::format("(task {}) {}", task, one.how);
      if (one.ending == Ending::failed) break;
    }
    return all;
  }

private:
  // A job of ours has ended when its dependent starts: without an end line the engine has ended it,
  // without a record it never ran. Accounting may know better.
  Outcome of_task(const records::JobKey& key) {
    const auto record = records::read_job_record(m_state, key, std::nullopt);
    const bool ran = record && record->tok == m_tok; // numbers are used again
    if (ran)
      if (const auto outcome = fabricate::outcome_of(*record)) return *outcome;
    const auto past = ask(key.job);
    if (past)
      if (const auto outcome = fabricate::outcome_of(
              *past, key.job, static_cast<std::uint32_t>(key.task.value_or(0))))
        return *outcome;
    return {Ending::failed, ran ? "was ended by the engine" : "was cancelled before it started"};
  }

  // Another user's job, or one of plain qsub: only accounting knows, and perhaps not at once.
  Outcome of_others(const Demand& demand) {
    const auto until = m_ctx.clock.unix_ms() + k_patience.count();
    while (true) {
      const auto past = ask(demand.job);
      if (!past) return {Ending::unknown, "ended, but how is not known: " + past.error().message};
      if (const auto outcome = of_records(*past, demand)) return *outcome;
      if (m_ctx.clock.unix_ms() >= until)
        return {Ending::unknown, "ended, but how is not known: accounting has no record of it"};
      m_ctx.clock.sleep_for(k_retry);
    }
  }

  // Engine's task numbers: there is no map.
  static std::optional<Outcome> of_records(const std::vector<ge::AccountingRecord>& past,
                                           const Demand& demand) {
    if (demand.index && *demand.index > 0)
      if (auto one = fabricate::outcome_of(past, demand.job, *demand.index)) return one;
    if (demand.index && !demand.corresponding) return std::nullopt;
    std::optional<Outcome> all;
    for (const auto& record : past) {
      const auto one = fabricate::outcome_of(past, demand.job, record.task);
      if (one && (!all || one->ending != Ending::succeeded)) all = one;
    }
    return all;
  }

  Result<std::vector<ge::AccountingRecord>> ask(std::int64_t job) {
    ge::AccountingSelection selection;
    selection.jobs = {static_cast<std::uint64_t>(job)};
    TRY_ASSIGN(auto past, ge::read_accounting(m_tools, m_source, selection));
    return std::move(past.records);
  }

  context::Context& m_ctx;
  ge::Tools m_tools;
  records::StatePaths m_state;
  ge::AccountingSource m_source;
  std::string m_tok; // of the predecessor's submission
};

} // namespace

std::optional<std::string> judge_dependency(context::Context& ctx,
                                            const fabricate::JobFacts& facts) {
  const auto demands = fabricate::demands_of(facts);
  if (demands.items.empty()) return std::nullopt;
  Judge judge(ctx, facts);
  std::vector<Outcome> outcomes;
  for (const auto& demand : demands.items)
    outcomes.push_back(judge(demand));
  return fabricate::verdict(demands, outcomes);
}

void release_waiting(context::Context& ctx, const fabricate::JobFacts& facts) {
  if (!facts.record || fabricate::engine_task(facts.env)) return;
  const records::StatePaths state(facts.record->get_or("dir", ""));
  const auto job = fabricate::engine_job(facts.env);
  const auto now = ctx.clock.unix_ms() / 1000;
  std::vector<ge::WaitingJob> waiting;
  for (const auto& note : records::take_after_notes(state, job))
    waiting.push_back(
        {static_cast<std::uint64_t>(note.job), note.minutes > 0 ? now + note.minutes * 60 : 0});
  if (waiting.empty()) return;
  const ge::Tools tools(ctx.runner, ctx.env, facts.config.qstat_timeout);
  if (const auto done = ge::release_from(tools, waiting, static_cast<std::uint64_t>(job)); !done)
    ctx.warning("jobs that wait for the start of this one wait for its end: " +
                done.error().message);
}

} // namespace shim::commands::env
