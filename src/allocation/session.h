#pragma once
// One qrsh from its start to its end: a loop over its streams, our signals and the clock. Owns the
// job while it waits: whatever ends us before the command runs removes it. Decision E10.

#include "streams.h"

#include "slurm_shim/allocation/allocation.h"
#include "slurm_shim/context/context.h"
#include "slurm_shim/records/paths.h"
#include "slurm_shim/submit/deliver.h"

#include <chrono>
#include <deque>
#include <optional>
#include <string>

#include <sys/types.h>

namespace shim::allocation {

class Session {
public:
  Session(context::Context& ctx,
          const Wanted& wanted,
          const Voice& voice,
          const records::StatePaths& state,
          submit::InteractiveJob& job)
      : m_ctx(ctx), m_wanted(wanted), m_voice(voice), m_state(state), m_job(job) {}

  // The command's exit code; 1 when it did not run. Refusals are errors with complete lines.
  [[nodiscard]] Result<int> run();

private:
  using Steady = std::chrono::steady_clock;
  enum class End { none, interrupted, too_late };

  Result<void> start();
  void turn();
  [[nodiscard]] int patience_ms() const;
  void look_at_talk();
  void look_at_clock();
  void on_signal(int number);
  void forward(int number);
  void post_mail();
  void give_up(End why);
  void remove_job();
  void kill_qrsh();
  void reap();
  Result<int> conclude();
  Result<int> conclude_pending();
  int conclude_command();
  [[nodiscard]] std::optional<int> recorded_code() const;

  void info(const std::string& text) const; // silent under --quiet
  [[nodiscard]] std::string job_text() const;

  context::Context& m_ctx;
  const Wanted& m_wanted;
  const Voice& m_voice;
  const records::StatePaths& m_state;
  submit::InteractiveJob& m_job;

  Streams m_streams;
  posix::Fd m_signals;
  pid_t m_qrsh = -1;
  std::optional<int> m_status; // qrsh's
  std::optional<std::int64_t> m_number;
  bool m_is_pending_told = false, m_is_granted = false, m_is_removed = false;
  End m_end = End::none;
  int m_end_signal = 0;   // that made us give up, or that the command was asked to end by
  std::deque<int> m_mail; // signals that the job's supervisor has not got yet
  int m_endings = 0;      // signals that end the command, so far
  Steady::time_point m_begin = Steady::now();
  std::optional<Steady::time_point> m_last_interrupt, m_next_mail, m_mail_deadline, m_kill_at;
};

} // namespace shim::allocation
