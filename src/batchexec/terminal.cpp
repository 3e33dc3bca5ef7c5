#include "terminal.h"

#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/spawn.h"
#include "slurm_shim/posix/terminal.h"
#include "slurm_shim/proto/frame.h"
#include "slurm_shim/proto/messages.h"
#include "slurm_shim/proto/step_spec.h"

#include <climits>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <string>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace shim::batchexec {

namespace {

using namespace std::chrono_literals;

constexpr auto k_patience = 30s;
constexpr std::size_t k_piece = 32768;

// Carries between our stdin, stdout and the terminal until nobody has the terminal any more.
class Carrier {
public:
  Carrier(int master, std::string input) : m_master(master), m_input(std::move(input)) {}
  [[noreturn]] void run() {
    take_frames();
    while (m_is_shown || !m_screen.empty())
      turn();
    ::_exit(0);
  }

private:
  void turn() {
    const bool writes_keys = m_is_shown && !m_keys.empty();
    const bool reads_screen = m_is_shown && m_screen.empty();
    // A terminal that has ended would wake us for nothing while its last output waits.
    const bool looks = writes_keys || reads_screen;
    const auto events = (reads_screen ? POLLIN : 0) | (writes_keys ? POLLOUT : 0);
    pollfd polls[] = {{m_is_input_open && m_keys.empty() ? STDIN_FILENO : -1, POLLIN, 0},
                      {looks ? m_master : -1, static_cast<short>(events), 0},
                      {m_screen.empty() ? -1 : STDOUT_FILENO, POLLOUT, 0}};
    if (::poll(polls, 3, -1) < 0) return;
    if (polls[0].revents != 0) read_input();
    if (writes_keys && (polls[1].revents & (POLLOUT | POLLHUP | POLLERR)) != 0) write_keys();
    if (reads_screen && (polls[1].revents & (POLLIN | POLLHUP | POLLERR)) != 0) read_screen();
    if (polls[2].revents != 0) write_screen();
  }

  void read_input() {
    char buffer[k_piece];
    const auto got = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    m_is_input_open = got > 0;
    if (got > 0) m_input.append(buffer, static_cast<std::size_t>(got));
    take_frames();
  }

  void take_frames() {
    std::size_t used = 0;
    for (;;) {
      std::size_t size = 0;
      const auto frame = proto::parse_frame(std::string_view(m_input).substr(used), size);
      if (!frame) m_is_input_open = false; // not from salloc or srun: no more of it
      if (!frame || !*frame) break;
      take((*frame)->header.type, (*frame)->payload);
      used += size;
    }
    m_input.erase(0, used);
  }

  void take(std::uint8_t type, std::string_view payload) {
    if (type == static_cast<std::uint8_t>(proto::FrameType::in)) m_keys += payload;
    if (type != static_cast<std::uint8_t>(proto::FrameType::window_size)) return;
    if (const auto size = proto::decode_window_size(payload))
      posix::set_window_size(m_master, *size);
  }

  void write_keys() {
    const auto put = ::write(m_master, m_keys.data(), m_keys.size());
    if (put > 0)
      m_keys.erase(0, static_cast<std::size_t>(put));
    else if (put < 0 && errno != EAGAIN && errno != EINTR)
      m_keys.clear();
  }

  void read_screen() {
    char buffer[k_piece];
    const auto got = ::read(m_master, buffer, sizeof buffer);
    if (got > 0)
      m_screen.assign(buffer, static_cast<std::size_t>(got));
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
      m_is_shown = false; // EIO: the last holder has gone
  }

  void write_screen() {
    const auto size = std::min(m_screen.size(), static_cast<std::size_t>(PIPE_BUF));
    const auto put = ::write(STDOUT_FILENO, m_screen.data(), size);
    if (put > 0)
      m_screen.erase(0, static_cast<std::size_t>(put));
    else if (put < 0 && errno != EAGAIN && errno != EINTR)
      m_screen.clear(); // nobody sees it: the command must go on all the same
  }

  int m_master;
  std::string m_input, m_keys, m_screen;
  bool m_is_input_open = true, m_is_shown = true;
};

// The first frame, out of `input`.
Result<posix::TerminalState> receive_state(std::string& input) {
  const auto end = std::chrono::steady_clock::now() + k_patience;
  for (;;) {
    std::size_t used = 0;
    TRY_ASSIGN(const auto frame, proto::parse_frame(input, used));
    if (frame) {
      if (frame->header.type != static_cast<std::uint8_t>(proto::FrameType::spec)) break;
      TRY_ASSIGN(const auto spec, proto::decode_step_spec(frame->payload));
      if (!spec.terminal) break;
      input.erase(0, used);
      return *spec.terminal;
    }
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd ready{STDIN_FILENO, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) < 0) break;
    char buffer[k_piece];
    const auto got = ready.revents == 0 ? 0 : ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (got <= 0) break;
    input.append(buffer, static_cast<std::size_t>(got));
  }
  return fail(ErrorKind::unavailable, "the user's end has not described its terminal");
}

} // namespace

Result<Terminal> Terminal::open() {
  std::string input;
  TRY_ASSIGN(const auto state, receive_state(input));
  TRY_ASSIGN(auto pair, posix::open_pseudo_terminal(state));
  TRY_ASSIGN(const auto carrier, posix::fork_process());
  if (carrier == 0) {
    // The lock of the supervisor and the command's end are not for us to hold.
    constexpr int k_master = 3;
    if (pair.master.get() != k_master) ::dup2(pair.master.get(), k_master);
    posix::close_descriptors_from(k_master + 1);
    Carrier(k_master, std::move(input)).run();
  }
  return Terminal(std::move(pair.slave), carrier);
}

void Terminal::wait() const {
  while (::waitpid(m_carrier, nullptr, 0) < 0 && errno == EINTR) {
  }
}

} // namespace shim::batchexec
