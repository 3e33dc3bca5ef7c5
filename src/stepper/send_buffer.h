#pragma once
// The bytes that wait for the control socket. Grows in place (realloc moves pages, it does not copy
// them, so that the peak stays at what is held) and never shrinks below what was touched.

#include "slurm_shim/base/assert.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

namespace shim::stepper {

class SendBuffer {
public:
  // `count` writable bytes at the end; they count as content at once.
  [[nodiscard]] char* extend(std::size_t count) {
    if (m_capacity - m_end < count) make_room(count);
    char* const at = m_bytes.get() + m_end;
    m_end += count;
    return at;
  }
  void append(std::string_view bytes) {
    if (!bytes.empty()) std::memcpy(extend(bytes.size()), bytes.data(), bytes.size());
  }
  [[nodiscard]] std::string_view pending() const { return {m_bytes.get() + m_begin, size()}; }
  [[nodiscard]] std::size_t size() const { return m_end - m_begin; }
  [[nodiscard]] bool empty() const { return m_begin == m_end; }
  void consume(std::size_t count) {
    m_begin += count;
    if (m_begin == m_end) m_begin = m_end = 0;
  }
  void clear() { m_begin = m_end = 0; }

private:
  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };

  void make_room(std::size_t count) {
    if (m_begin > 0) {
      std::memmove(m_bytes.get(), m_bytes.get() + m_begin, size());
      m_end -= m_begin;
      m_begin = 0;
    }
    if (m_capacity - m_end >= count) return;
    const auto wanted = std::max(m_end + count, 2 * m_capacity);
    char* const bytes = static_cast<char*>(std::realloc(m_bytes.get(), wanted));
    SHIM_ASSERT(bytes != nullptr);
    static_cast<void>(m_bytes.release());
    m_bytes.reset(bytes);
    m_capacity = wanted;
  }

  std::unique_ptr<char, Free> m_bytes;
  std::size_t m_capacity = 0, m_begin = 0, m_end = 0;
};

} // namespace shim::stepper
