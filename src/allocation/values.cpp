#include "slurm_shim/submit/values.h"

#include "slurm_shim/allocation/allocation.h"
#include "slurm_shim/slurm/numbers.h"
#include "slurm_shim/submit/refusal.h"

namespace shim::allocation {

namespace {

// Without a value: at once.
Result<std::optional<int>> immediate_of(const std::vector<cli::Given>& given) {
  std::optional<int> seconds;
  for (const auto& value : given) {
    if (value.option->name != "immediate") continue;
    seconds = 1;
    if (!value.value || value.value->empty()) continue;
    TRY_ASSIGN(seconds, slurm::parse_non_negative(*value.value, "--immediate"));
  }
  return seconds;
}

} // namespace

Result<void> read_values(const context::Context& ctx,
                         cli::OptionTable table,
                         const std::vector<cli::Given>& command_line,
                         Wanted& wanted) {
  auto given = submit::environment_values(table, ctx.env);
  given.insert(given.end(), command_line.begin(), command_line.end());
  TRY(submit::apply_values(given, ctx.clock.unix_ms() / 1000, wanted.job));
  TRY(submit::verify_request(wanted.job));
  auto immediate = immediate_of(given);
  if (!immediate) return submit::refuse(immediate.error().message, immediate.error().exit_code);
  wanted.immediate_s = *immediate;
  return {};
}

} // namespace shim::allocation
