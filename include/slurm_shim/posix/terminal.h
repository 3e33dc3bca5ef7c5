#pragma once
// Terminals from both sides: what srun's own terminal looks like and its raw mode, and pseudo
// terminals made to look the same for a rank (`srun --pty`). Spec launch 7.

#include "slurm_shim/base/result.h"
#include "slurm_shim/posix/fd.h"

#include <cstdint>
#include <memory>
#include <string>

namespace shim::posix {

struct WindowSize {
  std::uint16_t rows = 0, columns = 0;      // characters
  std::uint16_t x_pixels = 0, y_pixels = 0; // 0 = unknown
  bool operator==(const WindowSize&) const = default;
};

// The flags and control characters of termios(3), in Linux' numbers.
struct TerminalModes {
  std::uint32_t input = 0, output = 0, control = 0, local = 0;
  std::string characters; // c_cc, one byte each
};

struct TerminalState {
  WindowSize size;
  TerminalModes modes;
};

// Error: "ioctl(TIOCGWINSZ): Inappropriate ioctl for device" when `fd` is no terminal.
[[nodiscard]] Result<WindowSize> window_size(int fd);
[[nodiscard]] Result<TerminalState> terminal_state(int fd);
void set_window_size(int fd, const WindowSize& size);

struct PseudoTerminal {
  Fd master; // non-blocking
  Fd slave;  // nobody's controlling terminal yet
};
// One that looks like `state` (speed and hardware flags excepted).
[[nodiscard]] Result<PseudoTerminal> open_pseudo_terminal(const TerminalState& state);

// True unless `fd` is the controlling terminal and another group has it: reading would stop us.
[[nodiscard]] bool may_read_terminal(int fd);

// A terminal in raw mode as long as this object lives, or until leave(). `fd` is borrowed.
class RawMode {
public:
  [[nodiscard]] static Result<RawMode> enter(int fd);
  RawMode(RawMode&& other) noexcept;
  RawMode& operator=(RawMode&&) = delete;
  RawMode(const RawMode&) = delete;
  RawMode& operator=(const RawMode&) = delete;
  ~RawMode();
  void leave();       // what was written comes out first
  void pause();       // as before, until enter_again()
  void enter_again(); // somebody (a shell, after a stop) has changed it

private:
  struct Saved;
  explicit RawMode(std::unique_ptr<Saved> saved);
  std::unique_ptr<Saved> m_saved; // none: left
};

} // namespace shim::posix
