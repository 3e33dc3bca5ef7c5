#include "slurm_shim/ge/accounting.h"

#include "accounting_files.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/date_time.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace shim::ge {

namespace {

// One call of qacct; "not found" is an empty answer.
Result<void> ask(const Tools& tools, std::vector<std::string> args, Accounting& into) {
  TRY_ASSIGN(const auto output, tools.run({.tool = "qacct", .args = std::move(args)}));
  TRY_ASSIGN(auto records, parse_qacct(output.out));
  std::move(records.begin(), records.end(), std::back_inserter(into.records));
  if (output.status == 0 || output.err.find("not found") != std::string::npos) return {};
  return fail(ErrorKind::unavailable,
              "qacct: " + std::string(trim(split(trim(output.err), '\n').front())));
}

// qacct's -b speaks of the start of a job: a run that began before the window and ended in it would
// be missing, so that the window is only opened by a day's grace for -j without ids.
Result<Accounting> ask_qacct(const Tools& tools, const AccountingSelection& selection) {
  constexpr std::int64_t k_longest_run = std::int64_t{31} * 86400;
  Accounting answer;
  for (const auto job : selection.jobs)
    TRY(ask(tools, {"-j", std::to_string(job)}, answer));
  if (selection.jobs.empty()) {
    std::vector<std::string> window;
    if (selection.since > k_longest_run)
      window = {"-b", date_time_argument(selection.since - k_longest_run)};
    auto owners = selection.owners;
    if (owners.empty()) owners.emplace_back();
    for (const auto& owner : owners) {
      std::vector<std::string> args;
      if (!owner.empty()) args = {"-o", owner};
      args.insert(args.end(), window.begin(), window.end());
      args.emplace_back("-j");
      TRY(ask(tools, std::move(args), answer));
    }
  }
  // A name of digits matches job names as well.
  std::erase_if(answer.records,
                [&](const auto& record) { return !is_selected(record, selection); });
  return answer;
}

// The newest submission is the job that the number means now. The record of a requeue does not
// count: its submission time is the moment of the requeue on OCS.
void drop_older_namesakes(std::vector<AccountingRecord>& records) {
  constexpr std::int64_t k_same_submission = 60;
  std::map<std::uint64_t, std::int64_t> newest;
  for (const auto& record : records)
    if (!is_requeue(record)) newest[record.job] = std::max(newest[record.job], record.submit);
  std::erase_if(records, [&](const auto& record) {
    const auto last = is_requeue(record) && record.end != 0 ? record.end : record.submit;
    return last + k_same_submission < newest[record.job];
  });
}

} // namespace

bool is_requeue(const AccountingRecord& record) {
  return record.failed == 24 || record.failed == 25;
}

bool is_selected(const AccountingRecord& record, const AccountingSelection& selection) {
  if (!selection.jobs.empty() && !selection.jobs.contains(record.job)) return false;
  if (!selection.owners.empty() &&
      std::ranges::find(selection.owners, record.owner) == selection.owners.end())
    return false;
  const auto last = std::max({record.end, record.start, record.submit});
  return selection.since == 0 || last >= selection.since;
}

Result<Accounting> read_accounting(const Tools& tools,
                                   AccountingSource source,
                                   const AccountingSelection& selection,
                                   const std::string& file) {
  Accounting answer;
  std::vector<std::string> files;
  if (!file.empty())
    files = {file};
  else if (source != AccountingSource::qacct)
    files = accounting_files(tools.env());
  if (!files.empty()) {
    TRY_ASSIGN(answer, read_accounting_files(tools, files, selection, !file.empty()));
  } else if (source == AccountingSource::file) {
    return fail(ErrorKind::unavailable, "no accounting file in $SGE_ROOT/$SGE_CELL/common");
  } else {
    TRY_ASSIGN(answer, ask_qacct(tools, selection));
  }
  if (!selection.older_namesakes) drop_older_namesakes(answer.records);
  return answer;
}

std::optional<std::int64_t> latest_end(std::string_view qacct_text) {
  constexpr std::string_view k_key = "end_time";
  std::optional<std::int64_t> latest;
  for (const auto line : split(qacct_text, '\n')) {
    if (!line.starts_with(k_key)) continue;
    if (const auto when = qacct_local_time(trim(line.substr(k_key.size()))))
      latest = std::max(latest.value_or(*when), *when);
  }
  return latest;
}

Result<std::optional<std::int64_t>> query_end(const Tools& tools, std::uint64_t job) {
  TRY_ASSIGN(const auto output, tools.run({.tool = "qacct", .args = {"-j", std::to_string(job)}}));
  if (output.status == 0) return latest_end(output.out);
  if (output.err.find("not found") != std::string::npos) return std::optional<std::int64_t>{};
  return fail(ErrorKind::unavailable,
              "qacct: " + std::string(trim(split(trim(output.err), '\n').front())));
}

} // namespace shim::ge
