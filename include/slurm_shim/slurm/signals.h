#pragma once
// Signal names and numbers as Slurm knows them, and --signal. Pure. vectors/03 signal.*, 11 s_*

#include "slurm_shim/base/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace shim::slurm {

// Number of "USR1", "SIGUSR1" or "10"; any case, blanks around are ignored. Numbers are taken as
// they are (1 and up). Nothing for a name that Slurm does not know (WINCH, RTMIN) and for 0.
[[nodiscard]] std::optional<int> signal_number(std::string_view name);
// "USR1", or the decimal number when there is no name.
[[nodiscard]] std::string signal_name(int number);

struct SignalSpec {
  int signal = 0;
  int seconds_before = 60;  // before the time limit
  bool batch_only = false;  // B:
  bool reservation = false; // R:
};
// --signal=[{R|B}:]<sig>[@<seconds>]. Error (usage, exit 255): "Invalid --signal specification".
[[nodiscard]] Result<SignalSpec> parse_signal_spec(std::string_view text);

} // namespace shim::slurm
