// Standard input of the step, and the user's terminal when a rank runs on one (--pty).
#include "supervisor.h"

#include "slurm_shim/proto/messages.h"

#include <algorithm>

#include <unistd.h>

namespace shim::commands::srun {

Result<void> Supervisor::open_input() {
  const auto& path = m_plan.input.path;
  if (m_plan.input.is_streamed() && !path.empty()) {
    TRY_ASSIGN(m_input_file, srun::open_input(path));
  }
  return {};
}

void Supervisor::start_input() {
  const auto& input = m_plan.input;
  if (!input.is_streamed()) return;
  enter_terminal();
  std::vector<std::shared_ptr<proto::Channel>> readers(m_hosts.size());
  for (std::size_t i = 0; i < m_hosts.size(); ++i) {
    const auto& ranks = m_plan.hosts[i].ranks;
    const bool reads = std::any_of(ranks.begin(), ranks.end(), [&input](int rank) {
      return input.streams_to[static_cast<std::size_t>(rank)];
    });
    if (reads) readers[i] = m_hosts[i].channel;
  }
  m_input.emplace(m_loop,
                  m_input_file ? m_input_file.get() : STDIN_FILENO,
                  input.only_rank(),
                  std::move(readers),
                  [this](const std::string& why) { say("error: reading " + why); });
  m_input->start();
}

Result<void> Supervisor::on_input_credit(std::size_t host, const proto::FrameView& frame) {
  const auto credit = proto::decode_i32(frame.payload);
  if (!m_input || !credit || *credit < 0)
    return fail(ErrorKind::malformed, "IN_ACK without a credit, or without input");
  const bool is_closed = (frame.header.flags & proto::k_ack_closed) != 0;
  return m_input->on_credit(host, static_cast<std::uint32_t>(*credit), is_closed);
}

void Supervisor::stop_input(std::size_t host) {
  if (m_input) m_input->lose_host(host);
}

void Supervisor::enter_terminal() {
  if (!m_plan.request.terminal) return;
  if (auto mode = posix::RawMode::enter(STDIN_FILENO)) m_terminal.emplace(std::move(*mode));
  send_window_size(); // it may have changed during the launch
}

// Behind what the rank has shown, and before srun says anything more.
void Supervisor::leave_terminal() {
  if (!m_terminal) return;
  wait_for_writer();
  m_terminal.reset();
}

void Supervisor::resume_terminal() {
  if (!m_terminal) return;
  m_terminal->enter_again();
  send_window_size();
}

void Supervisor::send_window_size() {
  if (!m_terminal) return;
  const auto size = posix::window_size(STDIN_FILENO);
  const auto& host =
      m_hosts[static_cast<std::size_t>(slurm::to_int(m_plan.placement.ranks[0].node))];
  if (size && host.channel && !host.is_done)
    host.channel->send(proto::FrameType::window_size, 0, 0, proto::encode_window_size(*size));
}

} // namespace shim::commands::srun
