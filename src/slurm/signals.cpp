#include "slurm_shim/slurm/signals.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <array>
#include <csignal>

namespace shim::slurm {

namespace {

struct Name {
  std::string_view name;
  int number;
};
constexpr std::array k_signals{
    Name{"HUP", SIGHUP},
    Name{"INT", SIGINT},
    Name{"QUIT", SIGQUIT},
    Name{"ABRT", SIGABRT},
    Name{"KILL", SIGKILL},
    Name{"ALRM", SIGALRM},
    Name{"TERM", SIGTERM},
    Name{"USR1", SIGUSR1},
    Name{"USR2", SIGUSR2},
    Name{"URG", SIGURG},
    Name{"CONT", SIGCONT},
    Name{"STOP", SIGSTOP},
    Name{"TSTP", SIGTSTP},
    Name{"TTIN", SIGTTIN},
    Name{"TTOU", SIGTTOU},
    Name{"XCPU", SIGXCPU},
};
constexpr int k_max_seconds = 65535;

} // namespace

std::optional<int> signal_number(std::string_view name) {
  name = trim(name);
  if (is_digits(name)) {
    const auto number = parse_int<int>(name);
    if (!number || *number < 1) return std::nullopt;
    return number;
  }
  if (equals_ignore_case(name.substr(0, 3), "SIG")) name.remove_prefix(3);
  for (const auto& known : k_signals)
    if (equals_ignore_case(name, known.name)) return known.number;
  return std::nullopt;
}

std::string signal_name(int number) {
  for (const auto& known : k_signals)
    if (known.number == number) return std::string(known.name);
  return std::to_string(number);
}

Result<SignalSpec> parse_signal_spec(std::string_view text) {
  const auto invalid = [] {
    return fail(ErrorKind::usage, "Invalid --signal specification", k_exit_usage);
  };
  SignalSpec spec;
  const auto colon = text.find(':');
  if (colon != std::string_view::npos) {
    if (colon == 0) return invalid();
    for (const char c : text.substr(0, colon)) {
      if (c == 'B')
        spec.batch_only = true;
      else if (c == 'R')
        spec.reservation = true;
      else
        return invalid();
    }
    text.remove_prefix(colon + 1);
  }
  const auto at = text.find('@');
  const auto number = signal_number(text.substr(0, at));
  if (!number) return invalid();
  spec.signal = *number;
  if (at != std::string_view::npos && at + 1 < text.size()) {
    const auto seconds = text.substr(at + 1);
    const auto value = parse_int<int>(seconds);
    if (!is_digits(seconds) || !value || *value > k_max_seconds) return invalid();
    spec.seconds_before = *value;
  }
  return spec;
}

} // namespace shim::slurm
