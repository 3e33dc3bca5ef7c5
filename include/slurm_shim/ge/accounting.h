#pragma once
// What Grid Engine remembers of jobs that have ended: its accounting file (colon-separated up to
// 8.1, one JSON object a line in OCS 9), read directly where it is there, else through qacct. Owns
// the three formats, the rotated files and the search; knows nothing of Slurm's states. One pass
// over the newest files first, in bounded memory, for any number of jobs. Callers: history, squeue.
// Spec ge-commands 5, decisions 26a, 28.

#include "slurm_shim/base/result.h"
#include "slurm_shim/ge/tools.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace shim::ge {

// One run of a job or array task, or one of its remote tasks.
struct AccountingRecord {
  std::uint64_t job = 0;
  std::uint32_t task = 0; // 0 = no array
  std::string pe_task;    // "" = the master's record, else "1.host"
  std::string queue, host, owner, group, name, account, project, department, pe;
  std::string category;   // the requests: "-l h_rt=3600 -pe mpi 4"
  std::string command;    // submit_cmd_line, OCS 9 only
  std::string deleted_by; // "user@host", "execd@host"; OCS 9.1.2 and later only
  std::int64_t submit = 0, start = 0, end = 0; // unix seconds, 0 = never
  int failed = 0, exit_status = 0;
  int slots = 1;
  double wallclock = 0, user_cpu = 0, system_cpu = 0, cpu = 0; // seconds
  double max_vmem = 0, max_rss = 0;                            // bytes, 0 = not measured
  [[nodiscard]] bool master() const { return pe_task.empty(); }
};

// A run that was rescheduled: the job goes on.
[[nodiscard]] bool is_requeue(const AccountingRecord& record);

// Lines that are no record (comments, torn ones) are nothing.
[[nodiscard]] std::optional<AccountingRecord> parse_accounting_line(std::string_view line);
[[nodiscard]] std::optional<AccountingRecord> parse_accounting_json(std::string_view line);
// Text of `qacct -j`: times and sizes of 8.1.9 and 9.x. Error (malformed): a record is cut off.
[[nodiscard]] Result<std::vector<AccountingRecord>> parse_qacct(std::string_view text);

struct AccountingSelection {
  std::set<std::uint64_t> jobs;    // the engine's numbers; empty = all
  std::vector<std::string> owners; // empty = everybody
  std::int64_t since = 0;          // runs that ended before may be left out; 0 = all
  bool older_namesakes = false;    // also earlier jobs of the same numbers (they are used again)
};

enum class AccountingSource { automatic, qacct, file };

// In the order in which they were written. Error (unavailable): could not ask, or no file where
// one was demanded. Warnings name rotated files that could not be read.
struct Accounting {
  std::vector<AccountingRecord> records;
  std::vector<std::string> warnings;
};
// `file`: that file alone ("" = $SGE_ROOT/$SGE_CELL/common/accounting*, newest first).
[[nodiscard]] Result<Accounting> read_accounting(const Tools& tools,
                                                 AccountingSource source,
                                                 const AccountingSelection& selection,
                                                 const std::string& file = {});

// The latest end_time of the records in qacct's answer, unix seconds; nothing when there is none.
[[nodiscard]] std::optional<std::int64_t> latest_end(std::string_view qacct_text);

// `qacct -j JOB`. Nothing: accounting does not know the job. Error (unavailable): could not ask.
[[nodiscard]] Result<std::optional<std::int64_t>> query_end(const Tools& tools, std::uint64_t job);

} // namespace shim::ge
