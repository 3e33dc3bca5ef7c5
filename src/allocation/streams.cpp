#include "streams.h"

#include "slurm_shim/proto/messages.h"
#include "slurm_shim/proto/step_spec.h"

#include <climits>

#include <algorithm>
#include <cerrno>

#include <termios.h>
#include <unistd.h>

namespace shim::allocation {

namespace {

constexpr std::size_t k_piece = 32768;
constexpr std::string_view k_end_of_transmission = "\x04";
constexpr posix::WindowSize k_usual_size{24, 80, 0, 0};

// Passes bytes as they are, both ways.
posix::TerminalState raw_state() {
  posix::TerminalState state;
  state.size = k_usual_size;
  state.modes.characters.assign(NCCS, '\0');
  state.modes.characters[VMIN] = 1;
  return state;
}

} // namespace

Result<void> Streams::open(bool pty, bool stdin_closed, posix::SpawnRequest& child) {
  using Stream = ge::QrshTalk::Stream;
  m_pty = pty;
  TRY_ASSIGN(auto terminal, posix::open_pseudo_terminal(raw_state()));
  m_child_side = std::move(terminal.slave);
  child.group = posix::ProcessGroup::session;
  child.stdout_fd = m_child_side.get();
  TRY_ASSIGN(auto pipe, posix::make_pipe());
  TRY(posix::set_nonblocking(pipe.read.get()));
  m_child_err = std::move(pipe.write);
  child.stderr_fd = m_child_err.get();
  child.stdin_fd = posix::k_null_fd;
  m_is_input_open = !stdin_closed;
  if (!stdin_closed || pty) {
    TRY_ASSIGN(auto input, posix::make_pipe());
    TRY(posix::set_nonblocking(input.write.get()));
    m_input = std::move(input.write);
    m_child_in = std::move(input.read);
    child.stdin_fd = m_child_in.get();
  }
  m_sources.push_back({std::move(terminal.master), Stream::out, STDOUT_FILENO, {}});
  m_sources.push_back({std::move(pipe.read), Stream::err, STDERR_FILENO, {}});
  return {};
}

void Streams::started() {
  m_child_side.reset();
  m_child_err.reset();
  m_child_in.reset();
}

// The command's terminal is the user's from now on.
void Streams::enter_terminal() {
  if (!m_pty) return;
  proto::StepSpec spec;
  spec.terminal = posix::terminal_state(STDIN_FILENO).value_or(raw_state());
  send(proto::FrameType::spec, proto::StepSpecEncoder(spec).with_ranks({}));
  if (::isatty(STDIN_FILENO) == 0) return;
  if (auto raw = posix::RawMode::enter(STDIN_FILENO)) m_raw.emplace(std::move(*raw));
}

void Streams::resize() {
  if (!m_pty || !m_mark.is_found() || !m_input) return;
  if (const auto size = posix::window_size(STDIN_FILENO))
    send(proto::FrameType::window_size, proto::encode_window_size(*size));
}

void Streams::send(proto::FrameType type, std::string_view payload) {
  proto::append_frame(m_typed, type, 0, 0, payload);
}

void Streams::leave_terminal() {
  m_raw.reset();
}

bool Streams::reads_input() const {
  if (!m_mark.is_found() || !m_is_input_open || !m_typed.empty() || !m_input) return false;
  // Where another group has the terminal, reading it would stop us.
  return ::isatty(STDIN_FILENO) == 0 || posix::may_read_terminal(STDIN_FILENO);
}

void Streams::add_polls(std::vector<pollfd>& polls) const {
  for (const auto& source : m_sources) {
    if (!source.pending.empty())
      polls.push_back({source.target, POLLOUT, 0});
    else if (source.fd)
      polls.push_back({source.fd.get(), POLLIN, 0});
  }
  if (!m_typed.empty() && m_input) polls.push_back({m_input.get(), POLLOUT, 0});
  if (reads_input()) polls.push_back({STDIN_FILENO, POLLIN, 0});
}

void Streams::handle(const std::vector<pollfd>& polls) {
  for (const auto& [fd, events, seen] : polls) {
    if (seen == 0) continue;
    const bool writes = (events & POLLOUT) != 0;
    if (fd == STDIN_FILENO && !writes) read_input();
    if (writes && m_input && fd == m_input.get()) write_input();
    for (auto& source : m_sources) {
      if (writes && source.target == fd && !source.pending.empty()) write_source(source);
      if (!writes && source.fd && source.fd.get() == fd) read_source(source);
    }
  }
}

// The mark comes where the command's stdout does.
std::string Streams::take_mark(const Source& source, std::string bytes) {
  if (source.stream == ge::QrshTalk::Stream::err || m_mark.is_found()) return bytes;
  auto output = m_mark.feed(std::move(bytes));
  if (m_mark.is_found()) enter_terminal();
  return output;
}

void Streams::read_source(Source& source) {
  char buffer[k_piece];
  const auto got = ::read(source.fd.get(), buffer, sizeof buffer);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got > 0) {
    source.pending +=
        take_mark(source, m_talk.feed(source.stream, {buffer, static_cast<std::size_t>(got)}));
    return;
  }
  // End of file; EIO where the last holder of a terminal has gone.
  source.pending += take_mark(source, m_talk.finish(source.stream));
  if (source.stream != ge::QrshTalk::Stream::err) source.pending += m_mark.finish();
  source.fd.reset();
}

// No more than a pipe that polls writable takes at once: we never block on a slow reader.
void Streams::write_source(Source& source) {
  const auto size = std::min(source.pending.size(), static_cast<std::size_t>(PIPE_BUF));
  const auto put = ::write(source.target, source.pending.data(), size);
  if (put > 0) {
    source.pending.erase(0, static_cast<std::size_t>(put));
  } else if (put < 0 && errno != EAGAIN && errno != EINTR) {
    m_is_stdout_gone = m_is_stdout_gone || source.target == STDOUT_FILENO;
    source.pending.clear(); // nobody reads it: qrsh must go on all the same
  }
}

void Streams::read_input() {
  char buffer[k_piece];
  const auto got = ::read(STDIN_FILENO, buffer, sizeof buffer);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  m_is_input_open = got > 0;
  const std::string_view bytes(buffer, got > 0 ? static_cast<std::size_t>(got) : 0);
  if (m_pty)
    send(proto::FrameType::in, m_is_input_open ? bytes : k_end_of_transmission);
  else
    m_typed += bytes;
  write_input();
}

void Streams::write_input() {
  if (!m_typed.empty() && m_input) {
    const auto put = ::write(m_input.get(), m_typed.data(), m_typed.size());
    if (put > 0) m_typed.erase(0, static_cast<std::size_t>(put));
    if (put < 0 && errno != EAGAIN && errno != EINTR) { // qrsh reads no more
      m_typed.clear();
      m_is_input_open = false;
    }
  }
  if (!m_is_input_open && m_typed.empty()) m_input.reset();
}

bool Streams::are_drained() const {
  return std::ranges::all_of(
      m_sources, [](const Source& source) { return !source.fd && source.pending.empty(); });
}

} // namespace shim::allocation
