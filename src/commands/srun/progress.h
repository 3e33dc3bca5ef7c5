#pragma once
// The one line that a terminal shows while a launch takes long: how many hosts are ready. Owns what
// is on the screen; whoever prints something else takes it off first. Pure: gives the bytes to
// write. Called by the supervisor's tick.

#include <cstddef>
#include <string>

namespace shim::commands::srun {

class Progress {
public:
  explicit Progress(std::string step) : m_step(std::move(step)) {}
  // What brings the line up to date; "" when the screen shows it already.
  [[nodiscard]] std::string show(std::size_t ready, std::size_t hosts);
  // What takes the line off the screen; "" when there is none.
  [[nodiscard]] std::string hide();

private:
  std::string m_step; // "4711.0"
  std::string m_shown;
};

} // namespace shim::commands::srun
