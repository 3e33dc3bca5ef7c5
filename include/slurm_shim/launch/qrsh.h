#pragma once
// What starts a stepper on a remote host: `qrsh -inherit`, its environment, what its refusals mean
// and how often to try again. Pure. Spec launch 2 and 3, decisions 3 and 12; fixtures OCS-FACTS-3.

#include "slurm_shim/base/env_list.h"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace shim::launch {

struct QrshTarget {
  std::string host;     // exactly as Grid Engine spells it
  std::string self;     // absolute path of this binary, the same on all hosts
  std::string envelope; // base64
};

// The arguments behind "qrsh". The token is named, not spelled: qrsh takes it from its own
// environment, so that no argument list of any process holds it.
[[nodiscard]] std::vector<std::string> build_qrsh_args(const QrshTarget& target);
// The form of the founding text, with the token in the argument. Documentation by test only.
[[nodiscard]] std::vector<std::string> build_qrsh_args_with_token(const QrshTarget& target,
                                                                  std::string_view token);
// "qrsh -inherit ... " for messages, whatever token replaced by <redacted>.
[[nodiscard]] std::string printable_qrsh_command(const std::vector<std::string>& args);
// Without QRSH_WRAPPER and SGE_RSH_COMMAND, which would put another program in qrsh's place.
[[nodiscard]] EnvList qrsh_environment(EnvList own);

enum class Rejection { fatal, slots, job_race };
// From the tail of qrsh's stderr; what is not known is a race (the execd has not got the job yet).
[[nodiscard]] Rejection classify_rejection(std::string_view stderr_tail);
[[nodiscard]] std::string_view describe(Rejection rejection);

// When to try a refused host again. One per host; times come from the caller.
class RetryPolicy {
public:
  using Clock = std::chrono::steady_clock;
  struct Decision {
    bool give_up = false;
    std::chrono::milliseconds delay{0};
  };
  explicit RetryPolicy(Clock::time_point first_try) : m_first_try(first_try) {}
  // After a failed attempt. Slots: 2 s apart for 5 min; race: 0.5 s apart for 10 s, both from the
  // first try; fatal: never.
  [[nodiscard]] Decision after(Rejection rejection, Clock::time_point now) const;

private:
  Clock::time_point m_first_try;
};

// "qrsh launch on H kept failing (job not yet known to execd): <stderr on one line>"
[[nodiscard]] std::string give_up_message(Rejection rejection,
                                          const std::string& host,
                                          const std::vector<std::string>& args,
                                          std::string_view stderr_tail);

// The last 8 KiB of what a stepper's client wrote on stderr.
class StderrTail {
public:
  void append(std::string_view bytes);
  [[nodiscard]] const std::string& text() const { return m_text; }
  void clear() { m_text.clear(); }

private:
  std::string m_text;
};

} // namespace shim::launch
