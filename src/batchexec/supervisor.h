#pragma once
// The loop beside a running batch script: its end, the mailbox once a second, the signal timer, the
// warning before the time limit, and after it the end of the steps. One thread, one signalfd. Spec
// job-files 4 and 7, decisions E2, E3, E9.

#include "script.h"

#include "slurm_shim/posix/clock.h"
#include "slurm_shim/posix/fd.h"
#include "slurm_shim/records/batch_json.h"
#include "slurm_shim/records/job_record.h"
#include "slurm_shim/records/mailbox.h"

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace shim::batchexec {

struct Outcome {
  ScriptEnd script;
  bool requeue = false;
  bool timeout = false; // it was ended because its limit was near
  bool cancel = false;  // scancel ended it
  [[nodiscard]] std::string_view reason() const {
    return requeue ? "requeue" : cancel ? "cancel" : timeout ? "timeout" : "exit";
  }
  std::string warning; // what the user should know, "" = nothing
};

class Supervisor {
public:
  // All of these must outlive the supervisor; `signal_fd` tells of SIGCHLD.
  Supervisor(const records::BatchJob& job,
             const records::JobFolder& folder,
             const records::JobRecordWriter& record,
             records::MailboxReader& mailbox,
             int signal_fd);

  [[nodiscard]] Outcome run(pid_t script);

private:
  using Steady = std::chrono::steady_clock;
  enum class Phase {
    running,
    requeue_steps,  // the script stands still, steps and their qrsh clients end
    requeue_script, // TERM, kill_wait, KILL
    cancel,         // TERM, kill_wait, KILL for the script and what it started; steps end
    closing,        // the script has ended, steps end
    done,
  };
  struct Answer {
    int rc = 0;
    std::string text;
  };

  void wait_for_event();
  void reap();
  void script_ended(int wait_status);
  void look_into_mailbox();
  Answer carry_out(const records::MailRequest& request);
  Answer signal_request(const records::MailRequest& request);
  Answer requeue_request();
  Answer cancel_request();
  Answer end_step_request(const records::MailRequest& request);
  void signal_steps(int number);
  void signal_script(int number) const;
  static void signal_batch(int number);
  void set_timers();
  void fire_timers(Steady::time_point now);
  void fire_signal_timer();
  void end_in_time();
  void warned(int number);
  void tell(std::string_view why) const;
  bool steps_have_ended(); // tells those that were not told yet to end
  void advance();
  void advance_requeue();
  void advance_cancel();
  void advance_closing();
  [[nodiscard]] Steady::time_point next_wake() const;

  const records::BatchJob& m_job;
  const records::JobFolder& m_folder;
  const records::JobRecordWriter& m_record;
  records::MailboxReader& m_mailbox;
  int m_signal_fd;
  posix::SystemClock m_clock;
  pid_t m_script = -1;
  Phase m_phase = Phase::running;
  Outcome m_outcome;
  Steady::time_point m_next_mail;
  std::optional<Steady::time_point> m_signal_at; // --signal
  std::optional<Steady::time_point> m_term_at;   // shortly before the engine's KILL
  bool m_warned = false;                         // the engine's notice was recorded
  Steady::time_point m_deadline;                 // of the present phase
  std::set<int> m_told;                          // steps that were asked to end
};

} // namespace shim::batchexec
