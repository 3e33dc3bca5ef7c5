// What the steppers say: output, ends of ranks, ends of connections; and the way of the output to
// the writer with its back-pressure.
#include "supervisor.h"

#include "slurm_shim/base/log.h"
#include "slurm_shim/proto/messages.h"
#include "slurm_shim/slurm/exit_codes.h"

namespace shim::commands::srun {

using namespace std::chrono_literals;

namespace {
// Tasks of a host end a moment apart: their messages are put together (as Slurm groups them).
constexpr auto k_report_delay = 50ms;
constexpr int k_lost_rank_code = slurm::k_exit_failure;
} // namespace

Result<void> Supervisor::on_frame(std::size_t host, const proto::FrameView& frame) {
  using proto::FrameType;
  switch (static_cast<FrameType>(frame.header.type)) {
  case FrameType::out: on_output(host, frame); return {};
  case FrameType::rank_exit: return on_rank_exit(host, frame);
  case FrameType::rank_fail: return on_rank_fail(host, frame);
  case FrameType::ping: m_hosts[host].channel->send(FrameType::pong, 0, 0, {}); return {};
  case FrameType::hello:
  case FrameType::spec:
  case FrameType::sig:
    return fail(ErrorKind::malformed,
                "a frame of type " + std::to_string(frame.header.type) + " is not a stepper's");
  case FrameType::ready: log::trace("{} is ready", m_plan.hosts[host].name); return {};
  case FrameType::in_ack: return on_input_credit(host, frame);
  case FrameType::pong:
  case FrameType::in:
  case FrameType::window_size: break;
  }
  return {}; // unknown types are ignored: that is what keeps additions compatible
}

bool Supervisor::owns(std::size_t host, std::uint32_t rank) {
  const bool known = rank < m_ranks.size() && m_ranks[rank] != RankState::ended &&
                     slurm::to_int(m_plan.placement.ranks[rank].node) == static_cast<int>(host);
  if (!known && !std::exchange(m_has_violation_warning, true))
    say("warning: stepper on " + m_plan.hosts[host].name + " spoke of task " +
        std::to_string(rank) + ", which it does not run");
  return known;
}

void Supervisor::on_output(std::size_t host, const proto::FrameView& frame) {
  if (!owns(host, frame.header.rank)) return;
  const auto stream =
      (frame.header.flags & proto::k_out_stderr) != 0 ? mux::Stream::err : mux::Stream::out;
  m_output->put(static_cast<int>(frame.header.rank),
                stream,
                frame.payload,
                (frame.header.flags & proto::k_out_eol) != 0);
}

Result<void> Supervisor::on_rank_exit(std::size_t host, const proto::FrameView& frame) {
  const auto exit = proto::decode_rank_exit(frame.payload);
  if (!exit) return fail(ErrorKind::malformed, "RANK_EXIT without an exit code");
  if (owns(host, frame.header.rank))
    rank_ended(host, static_cast<int>(frame.header.rank), exit->code, exit->wait_status);
  return {};
}

Result<void> Supervisor::on_rank_fail(std::size_t host, const proto::FrameView& frame) {
  const auto fail_info = proto::decode_rank_fail(frame.payload);
  if (!fail_info) return fail(ErrorKind::malformed, "RANK_FAIL without an exit code");
  if (!owns(host, frame.header.rank)) return {};
  raw("slurmstepd-" + m_plan.hosts[host].name + ": error: " + fail_info->reason + "\n");
  // A rank that never ran has failed, whatever code came along.
  const int code = fail_info->code != 0 ? fail_info->code : slurm::k_exit_failure;
  rank_ended(host, static_cast<int>(frame.header.rank), code, (code & 0xff) << 8);
  return {};
}

void Supervisor::rank_ended(std::size_t host, int rank, int code, int wait_status) {
  m_ranks[static_cast<std::size_t>(rank)] = RankState::ended;
  m_rank_codes[static_cast<std::size_t>(rank)] = code;
  m_output->finish_rank(rank);
  m_report.add(m_plan.hosts[host].name, rank, code, wait_status);
  if (!m_first_exit) m_first_exit = Clock::now();
  schedule_report();
  if (--m_hosts[host].unreported == 0) host_done(host);
  if (code != 0) bad_exit();
}

void Supervisor::on_host_closed(std::size_t host, const std::string& reason) {
  if (m_hosts[host].is_done || m_phase == Phase::ending) return;
  const auto& name = m_plan.hosts[host].name;
  if (m_phase == Phase::launching)
    return fail_launch("stepper on " + name + " left before the step started" +
                           (reason.empty() ? "" : ": " + reason),
                       slurm::k_exit_launch);
  std::vector<int> lost;
  for (const int rank : m_plan.hosts[host].ranks)
    if (m_ranks[static_cast<std::size_t>(rank)] != RankState::ended) lost.push_back(rank);
  say("error: stepper on " + name + " exited without reporting a rank (" + name_tasks(lost) + ")" +
      (reason.empty() ? "" : ": " + reason));
  m_end_reason = "lost";
  for (const int rank : lost) {
    m_ranks[static_cast<std::size_t>(rank)] = RankState::ended;
    m_rank_codes[static_cast<std::size_t>(rank)] = k_lost_rank_code;
    m_output->finish_rank(rank);
    m_report.add_silently(k_lost_rank_code);
  }
  m_hosts[host].unreported = 0;
  host_done(host);
  bad_exit();
}

void Supervisor::host_done(std::size_t host) {
  if (std::exchange(m_hosts[host].is_done, true)) return;
  stop_input(host);
  if (++m_hosts_done == m_hosts.size()) end_step();
}

// --- output --------------------------------------------------------------------------------------

void Supervisor::flush_output() {
  m_writer.flush();
  watch_writer();
  if (m_writer.is_full() && !m_is_paused) {
    m_is_paused = true;
    for (const auto& host : m_hosts)
      if (host.channel) host.channel->pause_reading();
  }
  if (m_writer.broken_pipe() && !m_is_terminating && m_phase == Phase::running) terminate("cancel");
}

void Supervisor::tell_write_errors() {
  for (const auto& error : m_writer.take_errors()) {
    m_has_write_error = true;
    say("error: " + error);
  }
}

void Supervisor::watch_writer() {
  if (m_is_writer_watched || m_writer.progress_fd() < 0) return;
  if (!m_writer_progress) m_writer_progress.emplace(m_loop, m_writer.progress_fd());
  m_is_writer_watched = true;
  m_writer_progress->async_wait(boost::asio::posix::descriptor_base::wait_read,
                                [this](const boost::system::error_code& error) {
                                  m_is_writer_watched = false;
                                  if (error) return;
                                  m_writer.acknowledge_progress();
                                  if (m_is_paused && !m_writer.is_full()) resume_all();
                                  flush_output();
                                });
}

void Supervisor::resume_all() {
  m_is_paused = false;
  const auto now = Clock::now();
  for (const auto& host : m_hosts) {
    if (!host.channel) continue;
    host.channel->forgive_silence(now); // it was us who did not listen
    host.channel->resume_reading();
  }
}

// --- messages about ends -------------------------------------------------------------------------

void Supervisor::schedule_report() {
  if (!m_report.has_messages() || m_is_report_scheduled) return;
  m_is_report_scheduled = true;
  m_report_timer.expires_after(k_report_delay);
  m_report_timer.async_wait([this](const boost::system::error_code& error) {
    m_is_report_scheduled = false;
    if (!error) report_ends();
  });
}

void Supervisor::report_ends() {
  const auto lines = m_report.take_messages();
  if (m_plan.is_relay) return; // srun has told there
  for (const auto& line : lines)
    say(line);
  // Whom srun itself has killed, it has said so.
  if (m_report.take_forced() && !m_is_killing)
    info("Force Terminated StepId=" + m_plan.step_text());
}

} // namespace shim::commands::srun
