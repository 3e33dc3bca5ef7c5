#include "progress.h"

#include <utility>

namespace shim::commands::srun {

namespace {
// To the first column; then nothing is left of what was there.
constexpr const char* k_clear = "\r\x1b[K";
} // namespace

std::string Progress::show(std::size_t ready, std::size_t hosts) {
  auto line = "srun: launching StepId=" + m_step + ": " + std::to_string(ready) + " of " +
              std::to_string(hosts) + " hosts ready";
  if (line == m_shown) return {};
  m_shown = std::move(line);
  return k_clear + m_shown;
}

std::string Progress::hide() {
  return std::exchange(m_shown, {}).empty() ? std::string() : std::string(k_clear);
}

} // namespace shim::commands::srun
