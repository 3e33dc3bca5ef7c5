// What comes from outside of the steppers: signals, time, requests in the job's folder.
#include "supervisor.h"

#include "slurm_shim/base/log.h"
#include "slurm_shim/posix/signals.h"
#include "slurm_shim/slurm/date_time.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <csignal>
#include <ctime>

#include <unistd.h>

namespace shim::commands::srun {

using namespace std::chrono_literals;

namespace {

constexpr auto k_tick = 250ms;
// A longer gap between two ticks means that srun itself was stopped: nobody else was silent.
constexpr auto k_suspended = 5s;
constexpr auto k_double_interrupt = 1s;
constexpr auto k_progress_after = 2s;
// After KILL: how long the steppers have to report, and to leave after their last word.
constexpr auto k_after_kill = 5s;
constexpr auto k_socket_grace = 5s;

} // namespace

void Supervisor::watch_signals() {
  // ALRM would end srun by default, in Slurm it does nothing; CONT is only told about.
  for (const int number :
       {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT, SIGALRM, SIGTSTP, SIGCONT, SIGCHLD})
    if (number == SIGCHLD || !posix::is_ignored(number)) m_signals.add(number);
  if (m_plan.request.terminal) m_signals.add(SIGWINCH);
  wait_for_signal();
  watch_broken_pipe_signal();
}

// PIPE from somebody else ends the step, as in Slurm. One that a write of our own brings is no
// request: the writer tells of a reader that has gone.
void Supervisor::watch_broken_pipe_signal() {
  if (!m_pipe_signal) {
    auto fd = posix::block_into_signalfd({SIGPIPE});
    if (!fd) return;
    m_pipe_signal.emplace(m_loop, fd->release());
  }
  m_pipe_signal->async_wait(boost::asio::posix::descriptor_base::wait_read,
                            [this](const boost::system::error_code& error) {
                              if (error) return;
                              if (posix::take_foreign_signal(m_pipe_signal->native_handle()) != 0 &&
                                  m_phase == Phase::running && !m_is_killing) {
                                abort_message();
                                kill_step("cancel");
                              }
                              watch_broken_pipe_signal();
                            });
}

void Supervisor::wait_for_signal() {
  m_signals.async_wait([this](const boost::system::error_code& error, int number) {
    if (error) return;
    on_signal(number);
    wait_for_signal();
  });
}

void Supervisor::on_signal(int number) {
  switch (number) {
  case SIGCHLD:
    if (m_fleet) m_fleet->reap();
    return;
  case SIGALRM: return;
  case SIGTSTP: return on_stop_key();
  case SIGWINCH: return send_window_size();
  case SIGCONT:
    resume_terminal();
    info("got SIGCONT");
    // Whoever stopped srun may have stopped tasks of other hosts, too.
    if (m_phase == Phase::running) send_signal(SIGCONT);
    return;
  default: break;
  }
  const bool ends = number != SIGUSR1 && number != SIGUSR2;
  if (m_phase == Phase::ending) {
    if (!ends) return;
    m_leave_signal = number; // whoever is still waited for is left alone
    m_loop.stop();
  } else if (m_phase == Phase::launching && ends) {
    say("Cancelled pending job step with signal " + std::to_string(number));
    fail_launch("", slurm::signal_exit(number));
  } else if (number == SIGINT && !m_plan.is_relay) {
    on_interrupt();
  } else {
    send_signal(number);
  }
}

// ^Z: the tasks stop, then srun; CONT wakes both.
void Supervisor::on_stop_key() {
  if (m_phase == Phase::running) send_signal(SIGSTOP);
  if (m_terminal) m_terminal->pause();
  (void)::raise(SIGSTOP);
}

void Supervisor::on_interrupt() {
  const auto now = Clock::now();
  if (m_is_killing) {
    info("sending Ctrl-C to StepId=" + m_plan.step_text());
    info("job abort in progress");
    return;
  }
  const bool again = m_plan.request.quit_on_interrupt ||
                     (m_last_interrupt && now - *m_last_interrupt <= k_double_interrupt);
  m_last_interrupt = now;
  if (!again) {
    info("interrupt (one more within 1 sec to abort)");
    tell_task_states();
    send_signal(SIGINT);
    return;
  }
  info("sending Ctrl-C to StepId=" + m_plan.step_text());
  info("forcing job termination");
  abort_message();
  kill_step("cancel");
}

void Supervisor::tell_task_states() {
  std::vector<int> running, failed, exited;
  for (std::size_t rank = 0; rank < m_ranks.size(); ++rank) {
    auto& list = m_ranks[rank] != RankState::ended ? running
                 : m_rank_codes[rank] != 0         ? failed
                                                   : exited;
    list.push_back(static_cast<int>(rank));
  }
  const auto tell = [this](const std::vector<int>& ranks, const char* state) {
    if (!ranks.empty())
      info("StepId=" + m_plan.step_text() + " " + name_tasks(ranks) + ": " + state);
  };
  tell(running, "running");
  tell(failed, "exited abnormally");
  tell(exited, "exited");
}

void Supervisor::abort_message(std::string_view why) {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(m_ctx.config.kill_wait).count() + 2;
  info("Job step aborted: Waiting up to " + std::to_string(seconds) +
       " seconds for job step to finish.");
  cancelled_line(why);
}

void Supervisor::cancelled_line(std::string_view why) {
  if (std::exchange(m_has_cancel_line, true)) return;
  const auto& name = m_plan.hosts[0].name;
  const auto now = static_cast<std::time_t>(m_ctx.clock.unix_ms() / 1000);
  raw("slurmstepd-" + name + ": error: *** STEP " + m_plan.step_text() + " ON " + name +
      " CANCELLED AT " + slurm::format_date_time(now) + std::string(why) + " ***\n");
}

void Supervisor::send_signal(int number) {
  if (m_phase == Phase::launching) {
    m_pending_signals.push_back(number);
    return;
  }
  for (const auto& host : m_hosts)
    if (host.channel && !host.is_done)
      host.channel->send(proto::FrameType::sig, 0, 0, proto::encode_i32(number));
}

// TERM, kill_wait, KILL; then whoever has not reported is given up.
void Supervisor::terminate(const std::string& reason) {
  if (m_phase != Phase::running || std::exchange(m_is_terminating, true)) return;
  m_end_reason = reason;
  send_signal(SIGTERM);
  m_kill_timer.expires_after(m_ctx.config.kill_wait);
  m_kill_timer.async_wait([this, reason](const boost::system::error_code& error) {
    if (!error) kill_step(reason);
  });
}

void Supervisor::kill_step(const std::string& reason) {
  if (m_phase != Phase::running) return;
  m_is_terminating = m_is_killing = true;
  m_end_reason = reason;
  send_signal(SIGKILL);
  m_kill_timer.expires_after(k_after_kill);
  m_kill_timer.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    info("error: Timed out waiting for job step to complete");
    if (m_forced_code == 0) m_forced_code = slurm::signal_exit(SIGKILL);
    end_step();
  });
}

void Supervisor::bad_exit() {
  if (!m_plan.request.kill_on_bad_exit || m_is_terminating || m_phase != Phase::running) return;
  m_report.latch_first();
  report_ends();
  info("launch/slurm: _step_signal: Terminating StepId=" + m_plan.step_text());
  cancelled_line();
  terminate("exit");
}

// --- time ----------------------------------------------------------------------------------------

void Supervisor::tick() {
  m_ticker.expires_after(k_tick);
  m_ticker.async_wait([this](const boost::system::error_code& error) {
    if (error || m_phase == Phase::ending) return;
    on_tick();
    if (m_phase != Phase::ending) tick();
  });
}

void Supervisor::on_tick() {
  const auto now = Clock::now();
  if (now - m_last_tick > k_suspended) forgive_stop(now - m_last_tick, now);
  m_last_tick = now;
  check_requests();
  if (m_input) m_input->on_tick(now);
  tell_write_errors();
  check_silence(now);
  if (m_phase == Phase::launching) {
    show_progress(now);
    return check_launch_time(now);
  }
  check_limits(now);
  check_wait(now);
}

// srun itself was stopped: nobody else was silent or late.
void Supervisor::forgive_stop(Clock::duration gap, Clock::time_point now) {
  m_resumed = now;
  m_limits.shift(gap);
  if (m_first_exit) *m_first_exit += gap;
  for (const auto& host : m_hosts)
    if (host.channel) host.channel->forgive_silence(now);
}

void Supervisor::show_progress(Clock::time_point now) {
  if (m_plan.request.quiet || now - m_begin < k_progress_after || ::isatty(2) != 1) return;
  m_writer.buffer(k_stderr_sink) += m_progress.show(m_connected, m_hosts.size());
  flush_output();
}

void Supervisor::start_limits(Clock::time_point now) {
  const auto& request = m_plan.request;
  StepLimits::Facts facts;
  if (request.time_limit_min) facts.limit = std::chrono::minutes(*request.time_limit_min);
  facts.signal = request.signal;
  if (request.signal) facts.job_left = job_time_left(m_plan.ground, m_ctx.clock.unix_ms());
  if (request.signal && !facts.limit && !facts.job_left)
    say("warning: --signal: neither step nor job has a time limit, no signal is sent");
  m_limits = StepLimits(facts, now);
}

void Supervisor::check_limits(Clock::time_point now) {
  if (m_phase != Phase::running) return;
  switch (m_limits.take_due(now)) {
  case StepLimits::Due::nothing: return;
  case StepLimits::Due::signal: return send_signal(m_limits.signal());
  case StepLimits::Due::end: break;
  }
  if (m_is_terminating) return;
  abort_message(" DUE TO TIME LIMIT");
  terminate("timeout");
}

void Supervisor::check_launch_time(Clock::time_point now) {
  if (m_fleet->waits_for_slots()) m_resumed = now; // slots have a bound of their own
  const auto since = std::max(m_fleet->last_start(), m_resumed);
  if (now - since < m_ctx.config.launch_timeout) return;
  fail_launch("stepper did not connect within launch_timeout (" +
                  std::to_string(m_ctx.config.launch_timeout.count() / 1000) +
                  " s): " + missing_hosts(),
              slurm::k_exit_launch);
}

void Supervisor::check_silence(Clock::time_point now) {
  for (std::size_t i = 0; i < m_hosts.size() && m_phase != Phase::ending; ++i) {
    auto& host = m_hosts[i];
    if (host.is_done || !host.channel || m_is_paused) continue;
    const auto silence = now - host.channel->last_heard();
    std::string reason;
    if (host.process_ended && now - *host.process_ended > k_socket_grace)
      reason = "its process has ended";
    else if (silence >= m_ctx.config.ping_deadline)
      reason =
          "no sign of life for " + std::to_string(m_ctx.config.ping_deadline.count() / 1000) + " s";
    if (!reason.empty()) {
      host.channel->close();
      on_host_closed(i, reason);
    } else if (silence >= m_ctx.config.ping_interval &&
               now - host.last_ping >= m_ctx.config.ping_interval) {
      host.last_ping = now;
      host.channel->send(proto::FrameType::ping, 0, 0, {});
    }
  }
}

void Supervisor::check_wait(Clock::time_point now) {
  const auto limit = m_plan.request.wait_s.value_or(0);
  if (limit == 0 || !m_first_exit || m_is_terminating || m_phase != Phase::running) return;
  if (now - *m_first_exit < std::chrono::seconds(limit)) return;
  info("First task exited " + std::to_string(limit) + "s ago");
  tell_task_states();
  info("launch/slurm: _step_signal: Terminating StepId=" + m_plan.step_text());
  abort_message();
  kill_step("timeout");
}

// --- requests in the job's folder ----------------------------------------------------------------

void Supervisor::check_requests() {
  if (!m_registration) return;
  for (const auto& request : m_registration->poll()) {
    if (request.kind == records::StepRequest::Kind::signal) {
      send_signal(request.signal);
    } else if (m_phase == Phase::launching) {
      fail_launch("step was cancelled before it started", slurm::signal_exit(SIGTERM));
    } else {
      terminate("cancel");
    }
  }
  if (!m_plan.ground.batch || m_forced_code != 0 || m_phase == Phase::ending) return;
  if (!records::supervisor_is_gone(records::JobFolder(m_plan.ground.folder))) return;
  // The job was killed around us: the engine reached only the script's process group.
  log::debug("the supervisor of the job is gone");
  if (m_phase == Phase::launching) return fail_launch("", slurm::signal_exit(SIGKILL));
  m_forced_code = slurm::signal_exit(SIGKILL);
  kill_step("cancel");
}

} // namespace shim::commands::srun
