#include "slurm_shim/posix/terminal.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace shim::posix {

namespace {

winsize to_kernel(const WindowSize& size) {
  return {size.rows, size.columns, size.x_pixels, size.y_pixels};
}

void apply_modes(int fd, const TerminalModes& modes) {
  termios settings{};
  if (::tcgetattr(fd, &settings) != 0) return;
  settings.c_iflag = modes.input;
  settings.c_oflag = modes.output;
  settings.c_lflag = modes.local;
  // Speed, size and parity are of a line that a pseudo terminal does not have.
  const auto count = std::min(modes.characters.size(), static_cast<std::size_t>(NCCS));
  for (std::size_t i = 0; i < count; ++i)
    settings.c_cc[i] = static_cast<cc_t>(modes.characters[i]);
  ::tcsetattr(fd, TCSANOW, &settings);
}

} // namespace

Result<WindowSize> window_size(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0) return fail_errno("ioctl(TIOCGWINSZ)", errno);
  return WindowSize{size.ws_row, size.ws_col, size.ws_xpixel, size.ws_ypixel};
}

Result<TerminalState> terminal_state(int fd) {
  TerminalState state;
  TRY_ASSIGN(state.size, window_size(fd));
  termios settings{};
  if (::tcgetattr(fd, &settings) != 0) return fail_errno("tcgetattr", errno);
  state.modes = {settings.c_iflag, settings.c_oflag, settings.c_cflag, settings.c_lflag, {}};
  for (const cc_t character : settings.c_cc)
    state.modes.characters += static_cast<char>(character);
  return state;
}

void set_window_size(int fd, const WindowSize& size) {
  const auto wanted = to_kernel(size);
  ::ioctl(fd, TIOCSWINSZ, &wanted);
}

Result<PseudoTerminal> open_pseudo_terminal(const TerminalState& state) {
  PseudoTerminal pair;
  pair.master.reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!pair.master) return fail_errno("opening a pseudo terminal", errno);
  char name[64];
  if (::grantpt(pair.master.get()) != 0 || ::unlockpt(pair.master.get()) != 0 ||
      ::ptsname_r(pair.master.get(), name, sizeof name) != 0)
    return fail_errno("setting up a pseudo terminal", errno);
  TRY_ASSIGN(pair.slave, open_file(name, O_RDWR | O_NOCTTY));
  TRY(set_nonblocking(pair.master.get()));
  apply_modes(pair.slave.get(), state.modes);
  set_window_size(pair.slave.get(), state.size);
  return pair;
}

bool may_read_terminal(int fd) {
  const auto foreground = ::tcgetpgrp(fd);
  return foreground < 0 || foreground == ::getpgrp();
}

struct RawMode::Saved {
  int fd = -1;
  termios before{}, raw{};
};

RawMode::RawMode(std::unique_ptr<Saved> saved) : m_saved(std::move(saved)) {}
RawMode::RawMode(RawMode&& other) noexcept = default;

RawMode::~RawMode() {
  leave();
}

Result<RawMode> RawMode::enter(int fd) {
  auto saved = std::make_unique<Saved>();
  saved->fd = fd;
  if (::tcgetattr(fd, &saved->before) != 0) return fail_errno("tcgetattr", errno);
  saved->raw = saved->before;
  ::cfmakeraw(&saved->raw);
  // What has been typed ahead is kept for the rank.
  if (::tcsetattr(fd, TCSADRAIN, &saved->raw) != 0) return fail_errno("tcsetattr", errno);
  return RawMode(std::move(saved));
}

void RawMode::leave() {
  if (const auto saved = std::move(m_saved)) ::tcsetattr(saved->fd, TCSADRAIN, &saved->before);
}

void RawMode::pause() {
  if (m_saved) ::tcsetattr(m_saved->fd, TCSADRAIN, &m_saved->before);
}

void RawMode::enter_again() {
  if (m_saved) ::tcsetattr(m_saved->fd, TCSADRAIN, &m_saved->raw);
}

} // namespace shim::posix
