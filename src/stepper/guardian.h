#pragma once
// The parent of the ranks: a small process in a session of its own that starts, signals and sweeps
// them, and that outlives whatever the engine does to the front. It speaks with nobody but the
// front, and end of file from there is an order to kill everything at once, also while a grace
// runs. Decision E1, OCS-FACTS-3 section 7.

#include "control.h"
#include "rank_start.h"
#include "streams.h"

#include "slurm_shim/posix/fd.h"
#include "slurm_shim/proto/step_spec.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace shim::stepper {

class Guardian {
public:
  // `control` and the ranks' ends in `streams` are all that may be open above 2 in this process.
  Guardian(posix::Fd control,
           const proto::StepSpec& spec,
           std::string host,
           std::vector<RankStreams> streams,
           posix::OpenFileLimit open_files);
  // From the fork on; ends the process.
  [[noreturn]] void run();

private:
  using Clock = std::chrono::steady_clock;
  struct Rank {
    pid_t pid = -1;
    bool alive = false;
    int status = 0;    // how it ended
    pid_t epilog = -1; // the rank counts as running as long as this one does
    Clock::time_point epilog_end{};
  };

  void leave_group();
  [[nodiscard]] bool start_watch();
  void enter_directory();
  void start_next_rank();
  void wait_and_handle();
  void handle_commands();
  void hear_listener();
  void on_canary(int status);
  void reap();
  void on_ended(pid_t pid, int status);
  [[nodiscard]] bool start_epilog(std::size_t index);
  void end_rank(std::size_t index);
  void end_slow_epilogs();
  void signal_all(int number);
  void signal_rank(const Rank& rank, int number) const;
  void fail_rank(std::size_t index, const proto::RankFail& failure);
  void tell(Event::Kind kind, std::size_t index, int value, std::string text = {});
  [[nodiscard]] bool all_started() const { return m_next == m_ranks.size(); }
  [[nodiscard]] int poll_timeout() const;
  void on_grace_end();
  void let_descendants_leave();
  [[noreturn]] void finish(bool tell_front);

  posix::Fd m_control;
  posix::Fd m_signals;
  const proto::StepSpec& m_spec;
  std::string m_host;
  std::vector<RankStreams> m_streams;
  posix::OpenFileLimit m_open_files;
  std::optional<RankStarter> m_starter;
  std::optional<proto::RankFail> m_directory_failure; // then no rank is started
  std::vector<Rank> m_ranks;
  std::vector<int> m_latched; // signals that ranks started later are to get, too
  std::size_t m_next = 0;     // the rank to start next
  std::size_t m_alive = 0;
  pid_t m_canary = -1; // or the listener, who stands for it
  posix::Fd m_words;   // of the listener, where there is one
  bool m_front_gone = false;
  bool m_finishing = false;
  std::optional<Clock::time_point> m_grace_end; // set: terminating
  int m_last_word = 0;                          // to a relay that does not end, the signal
};

} // namespace shim::stepper
