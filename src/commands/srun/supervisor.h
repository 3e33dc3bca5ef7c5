#pragma once
// Runs one step from its plan to its exit code. Read launch() first, from top to bottom: token,
// listener, preflight, steppers, loop, end. One thread and one loop; sockets,
// children, signals and timers all arrive there. Spec launch 1, 4-6, protocol 6; decisions 1-13.

#include "exit_report.h"
#include "fleet.h"
#include "input_pump.h"
#include "progress.h"
#include "step_limits.h"
#include "step_plan.h"

#include "slurm_shim/context/context.h"
#include "slurm_shim/mux/output.h"
#include "slurm_shim/mux/writer.h"
#include "slurm_shim/posix/terminal.h"
#include "slurm_shim/proto/channel.h"
#include "slurm_shim/proto/listener.h"
#include "slurm_shim/records/job_record.h"
#include "slurm_shim/records/steps.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shim::commands::srun {

class Supervisor {
public:
  // `registration`: the step's entry among the running ones; nothing outside of a job.
  Supervisor(context::Context& ctx,
             const StepPlan& plan,
             std::optional<records::StepRegistration> registration);
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  ~Supervisor();

  // srun's exit code. Everything it has to say has been said.
  [[nodiscard]] int launch();

private:
  using Clock = std::chrono::steady_clock;
  static constexpr int k_stderr_sink = 1;
  struct Host {
    std::shared_ptr<proto::Channel> channel;
    bool is_done = false; // all reported, or lost
    std::size_t unreported = 0;
    std::optional<Clock::time_point> process_ended; // its connection is still open
    Clock::time_point last_ping{};
  };
  enum class RankState { unseen, ended };
  enum class Phase { launching, running, ending };

  // supervisor.cpp: the way of a step
  Result<void> open_output();
  Result<void> open_listener();
  Result<void> preflight();
  Result<void> start_steppers();
  void on_host(const std::string& name, const std::shared_ptr<proto::Channel>& channel);
  void send_specs();
  void fail_launch(const std::string& message, int code);
  void end_step();
  void wait_for_steppers();
  void wait_for_writer();
  [[nodiscard]] int finish();

  // supervisor_events.cpp: what the steppers say
  Result<void> on_frame(std::size_t host, const proto::FrameView& frame);
  void on_output(std::size_t host, const proto::FrameView& frame);
  Result<void> on_rank_exit(std::size_t host, const proto::FrameView& frame);
  Result<void> on_rank_fail(std::size_t host, const proto::FrameView& frame);
  void rank_ended(std::size_t host, int rank, int code, int wait_status);
  void on_host_closed(std::size_t host, const std::string& reason);
  void host_done(std::size_t host);
  [[nodiscard]] bool owns(std::size_t host, std::uint32_t rank);
  void flush_output();
  void watch_writer();
  void tell_write_errors(); // at once, not at the end of a long step; the tasks go on
  void resume_all();
  void schedule_report();
  void report_ends();

  // supervisor_input.cpp: standard input, the user's terminal
  Result<void> open_input();
  void start_input();
  void stop_input(std::size_t host);
  Result<void> on_input_credit(std::size_t host, const proto::FrameView& frame);
  void enter_terminal();
  void leave_terminal();
  void resume_terminal(); // after a stop
  void send_window_size();

  // supervisor_control.cpp: signals, time, requests of others
  void watch_signals();
  void wait_for_signal();
  void on_signal(int number);
  void on_interrupt();
  void tick();
  void on_tick();
  void check_silence(Clock::time_point now);
  void check_requests();
  void check_launch_time(Clock::time_point now);
  void check_wait(Clock::time_point now);
  void start_limits(Clock::time_point now);
  void check_limits(Clock::time_point now);
  void forgive_stop(Clock::duration gap, Clock::time_point now);
  void show_progress(Clock::time_point now);
  void send_signal(int number);
  void terminate(const std::string& reason); // TERM, kill_wait, KILL, give up
  void kill_step(const std::string& reason); // KILL, give up
  void cancelled_line(std::string_view why = {});
  void on_stop_key();
  void watch_broken_pipe_signal();
  void abort_message(std::string_view why = {});
  void tell_task_states();
  void bad_exit();

  void say(const std::string& text);  // "srun: <text>" in order with the output
  void info(const std::string& text); // the same, silent under -Q
  void raw(const std::string& text);  // as it is
  [[nodiscard]] std::string missing_hosts() const;

  context::Context& m_ctx;
  const StepPlan& m_plan;
  boost::asio::io_context m_loop{1};
  proto::Token m_token = proto::Token::generate();
  std::unique_ptr<char[]> m_receive_buffer;
  mux::Writer m_writer;
  std::optional<mux::Output> m_output;
  std::optional<boost::asio::posix::stream_descriptor> m_writer_progress;
  bool m_is_writer_watched = false;
  bool m_has_write_error = false;
  bool m_is_paused = false;
  posix::Fd m_input_file; // -i FILE; else stdin
  std::optional<InputPump> m_input;
  std::optional<posix::RawMode> m_terminal;
  ControlAddress m_control;
  std::optional<proto::Listener> m_listener;
  std::unique_ptr<Fleet> m_fleet;
  std::optional<records::StepRegistration> m_registration;
  boost::asio::signal_set m_signals{m_loop};
  std::optional<boost::asio::posix::stream_descriptor> m_pipe_signal;
  boost::asio::steady_timer m_ticker{m_loop}, m_report_timer{m_loop}, m_kill_timer{m_loop};

  Phase m_phase = Phase::launching;
  Progress m_progress{m_plan.step_text()};
  StepLimits m_limits;
  std::vector<Host> m_hosts;
  std::vector<RankState> m_ranks;
  std::vector<int> m_rank_codes;
  std::size_t m_connected = 0;
  std::size_t m_hosts_done = 0;
  ExitReport m_report;
  int m_launch_code = 0;             // not 0: the launch failed with this exit code
  int m_forced_code = 0;             // not 0: the step ends with this code whatever the ranks say
  std::string m_end_reason = "exit"; // for the job record
  bool m_is_terminating = false, m_is_killing = false;
  bool m_has_violation_warning = false, m_has_rejection_warning = false;
  bool m_has_slots_notice = false, m_has_cancel_line = false;
  bool m_is_report_scheduled = false;
  int m_leave_signal = 0;             // a signal that came while srun was only waiting for others
  std::vector<int> m_pending_signals; // before SPEC was sent
  std::optional<Clock::time_point> m_last_interrupt, m_first_exit;
  Clock::time_point m_begin = Clock::now(), m_last_tick = m_begin, m_resumed = m_begin;
};

} // namespace shim::commands::srun
