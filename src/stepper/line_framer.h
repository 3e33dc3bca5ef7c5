#pragma once
// One output stream of one rank, cut into OUT frames: a frame per line without its line feed, 64
// KiB pieces of longer lines, and what is left at a flush as a frame without end of line. Not a
// byte is added or lost. Pure; the hot path of the stepper. Spec protocol 2, stepper 4.

#include "send_buffer.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace shim::stepper {

class LineFramer {
public:
  LineFramer(std::uint32_t rank, bool is_stderr);
  void feed(std::string_view bytes, SendBuffer& out);
  // The open line as it is (end of file, or nothing came for a while).
  void flush(SendBuffer& out);
  [[nodiscard]] bool has_partial() const { return !m_partial.empty(); }

private:
  void put(std::string_view head, std::string_view tail, bool end_of_line, SendBuffer& out) const;
  std::string_view complete_partial(std::string_view bytes, SendBuffer& out);

  std::uint32_t m_rank;
  std::uint8_t m_flags;
  std::string m_partial; // beginning of a line, less than one full frame
};

} // namespace shim::stepper
