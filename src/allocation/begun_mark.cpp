#include "begun_mark.h"

#include "slurm_shim/records/interactive.h"

#include <algorithm>
#include <utility>

namespace shim::allocation {

std::string BegunMark::feed(std::string bytes) {
  constexpr auto k_mark = records::k_begun_mark;
  if (m_is_found) return bytes;
  m_held += bytes;
  const auto at = m_held.find(k_mark);
  m_is_found = at != std::string::npos;
  if (m_is_found) {
    m_held.erase(at, k_mark.size());
    return std::exchange(m_held, {});
  }
  auto tail = std::min(m_held.size(), k_mark.size() - 1);
  while (tail > 0 && !k_mark.starts_with(std::string_view(m_held).substr(m_held.size() - tail)))
    --tail;
  auto output = m_held.substr(0, m_held.size() - tail);
  m_held.erase(0, output.size());
  return output;
}

std::string BegunMark::finish() {
  return std::exchange(m_held, {});
}

} // namespace shim::allocation
