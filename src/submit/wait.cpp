#include "slurm_shim/submit/wait.h"

#include "slurm_shim/ge/accounting.h"
#include "slurm_shim/ge/jobs.h"
#include "slurm_shim/records/job_record.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

namespace shim::submit {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds k_first_period{500};
constexpr milliseconds k_longest_period{5000};
constexpr milliseconds k_accounting_period{1000};
constexpr milliseconds k_let_go_period{250};
constexpr milliseconds k_let_go_budget{15000};

class Waiter {
public:
  Waiter(const context::Context& ctx, const records::StatePaths& state, const WaitedJob& job)
      : m_ctx(ctx), m_state(state), m_job(job),
        m_tools(ctx.runner, ctx.env, ctx.config.qstat_timeout) {}

  int run() {
    std::vector<std::uint32_t> open = m_job.tasks;
    if (open.empty()) open.push_back(0);
    auto period = k_first_period;
    while (true) {
      std::erase_if(open, [&](std::uint32_t task) { return recorded(task); });
      if (open.empty()) {
        wait_until_let_go();
        return m_code;
      }
      if (is_gone()) break;
      m_ctx.clock.sleep_for(period);
      period = std::min(period * 3 / 2, k_longest_period);
    }
    // What left no record was ended by the engine, or never ran.
    std::erase_if(open, [&](std::uint32_t task) { return recorded(task); });
    if (!open.empty()) ask_accounting(open);
    return m_code;
  }

private:
  void note(int code) { m_code = std::max(m_code, code); }

  [[nodiscard]] records::JobKey key(std::uint32_t task) const {
    if (task == 0) return {m_job.job, std::nullopt};
    return {m_job.job, static_cast<std::int64_t>(task)};
  }

  // The script's own end, as its supervisor wrote it down.
  bool recorded(std::uint32_t task) {
    const auto record = records::read_job_record(m_state, key(task), std::nullopt);
    if (!record || record->tok != m_job.token || !record->end || record->end->reason == "requeue")
      return false;
    // A script that a cancellation let end well was cancelled all the same.
    note(record->end->reason == "cancel" ? std::max(record->end->code, slurm::k_exit_failure)
                                         : record->end->code);
    return true;
  }

  // Nothing when the engine gave no answer.
  std::optional<bool> is_listed() {
    const auto numbers = ge::numbers_of_jobs(m_tools, m_job.user);
    if (!numbers) return std::nullopt;
    return numbers->contains(m_job.job);
  }

  // The engine has answered, twice, and does not list the job.
  bool is_gone() {
    const auto listed = is_listed();
    if (!listed) return false;
    m_misses = *listed ? 0 : m_misses + 1;
    return m_misses >= 2;
  }

  // The record is written before the engine takes back the slots: what the caller does next (a
  // squeue, a job for the same hosts) finds the job ended. Its exit code is known, so not for long.
  void wait_until_let_go() {
    const auto deadline = m_ctx.clock.unix_ms() + k_let_go_budget.count();
    while (is_listed().value_or(false) && m_ctx.clock.unix_ms() < deadline)
      m_ctx.clock.sleep_for(k_let_go_period);
  }

  // Runs that were killed; a job that was deleted while it waited has none.
  void ask_accounting(const std::vector<std::uint32_t>& open) {
    const auto deadline = m_ctx.clock.unix_ms() + m_ctx.config.qacct_deadline.count();
    ge::AccountingSelection selection;
    selection.jobs = {static_cast<std::uint64_t>(m_job.job)};
    std::map<std::uint32_t, ge::AccountingRecord> ends;
    while (true) {
      const auto answer = ge::read_accounting(m_tools, ge::AccountingSource::automatic, selection);
      if (answer)
        for (const auto& record : answer->records)
          if (record.master() && !ge::is_requeue(record)) ends[record.task] = record;
      const bool all = std::ranges::all_of(open, [&](auto task) { return ends.contains(task); });
      if (all || m_ctx.clock.unix_ms() >= deadline) break;
      m_ctx.clock.sleep_for(k_accounting_period);
    }
    for (const auto task : open)
      note(ends.contains(task) ? code_of(ends.at(task)) : slurm::k_exit_failure);
  }

  static int code_of(const ge::AccountingRecord& record) {
    if (record.failed != 0 || !record.deleted_by.empty()) return slurm::k_exit_failure;
    return record.exit_status;
  }

  const context::Context& m_ctx;
  const records::StatePaths& m_state;
  const WaitedJob& m_job;
  const ge::Tools m_tools;
  int m_misses = 0;
  int m_code = 0;
};

} // namespace

int wait_for_end(const context::Context& ctx,
                 const records::StatePaths& state,
                 const WaitedJob& job) {
  return Waiter(ctx, state, job).run();
}

} // namespace shim::submit
