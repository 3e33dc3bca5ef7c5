#pragma once
// Finding and searching accounting files; the moments that qacct prints.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/ge/accounting.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::ge {

// $SGE_ROOT/$SGE_CELL/common/accounting, accounting.jsonl and what was rotated away from them,
// newest first. Empty without SGE_ROOT or when there is none.
[[nodiscard]] std::vector<std::string> accounting_files(const EnvList& env);

// `must_read`: a file that cannot be read is an error and no warning.
[[nodiscard]] Result<Accounting> read_accounting_files(const Tools& tools,
                                                       const std::vector<std::string>& files,
                                                       const AccountingSelection& selection,
                                                       bool must_read);

[[nodiscard]] bool is_selected(const AccountingRecord& record,
                               const AccountingSelection& selection);

// "Mon Nov 30 01:45:29 2026", "2026-11-30 01:45:29.699554", "11/30/2026 01:45:29.123".
[[nodiscard]] std::optional<std::int64_t> qacct_local_time(std::string_view text);

// Searches lines that are given last one first: collects what is selected and tells when nothing
// more can come. Records arrive late when a host was away: only a long run of old ones counts.
class BackwardSearch {
public:
  explicit BackwardSearch(const AccountingSelection& selection) : m_selection(selection) {}
  // False: stop.
  [[nodiscard]] bool take(std::string_view line);
  // Nothing that ended before can be asked for any more; 0 = anything can.
  [[nodiscard]] std::int64_t horizon() const;
  // In the order in which they were written.
  [[nodiscard]] std::vector<AccountingRecord> finish() &&;

private:
  const AccountingSelection& m_selection;
  std::vector<AccountingRecord> m_found; // last one first
  std::set<std::uint64_t> m_seen;
  std::int64_t m_earliest_submit = 0;
  int m_old_in_a_row = 0;
};

} // namespace shim::ge
