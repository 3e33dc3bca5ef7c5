#include "line_framer.h"

#include "slurm_shim/proto/frame.h"

#include <algorithm>
#include <cstring>

namespace shim::stepper {

LineFramer::LineFramer(std::uint32_t rank, bool is_stderr)
    : m_rank(rank), m_flags(is_stderr ? proto::k_out_stderr : std::uint8_t{0}) {}

void LineFramer::put(std::string_view head,
                     std::string_view tail,
                     bool end_of_line,
                     SendBuffer& out) const {
  const auto length = head.size() + tail.size();
  unsigned char header[proto::k_header_bytes];
  const auto flags = static_cast<std::uint8_t>(m_flags | (end_of_line ? proto::k_out_eol : 0));
  proto::encode_header({static_cast<std::uint8_t>(proto::FrameType::out),
                        flags,
                        m_rank,
                        static_cast<std::uint32_t>(length)},
                       header);
  char* at = out.extend(sizeof header + length);
  std::memcpy(at, header, sizeof header);
  at += sizeof header;
  if (!head.empty()) std::memcpy(at, head.data(), head.size());
  if (!tail.empty()) std::memcpy(at + head.size(), tail.data(), tail.size());
}

// Ends the line that an earlier read began; what is left of `bytes` behind it.
std::string_view LineFramer::complete_partial(std::string_view bytes, SendBuffer& out) {
  const auto room = proto::k_max_out - m_partial.size();
  const auto newline = bytes.substr(0, room + 1).find('\n');
  if (newline == std::string_view::npos && bytes.size() < room) {
    m_partial += bytes;
    return {};
  }
  const bool ends = newline != std::string_view::npos;
  const auto taken = ends ? newline : room;
  put(m_partial, bytes.substr(0, taken), ends, out);
  m_partial.clear();
  return bytes.substr(taken + (ends ? 1 : 0));
}

void LineFramer::feed(std::string_view bytes, SendBuffer& out) {
  if (!m_partial.empty()) bytes = complete_partial(bytes, out);
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at != end) {
    const auto left = static_cast<std::size_t>(end - at);
    const auto* newline = static_cast<const char*>(std::memchr(at, '\n', left));
    const auto length = newline != nullptr ? static_cast<std::size_t>(newline - at) : left;
    if (length > proto::k_max_out || (newline == nullptr && length == proto::k_max_out)) {
      put({at, proto::k_max_out}, {}, false, out);
      at += proto::k_max_out;
    } else if (newline != nullptr) {
      put({at, length}, {}, true, out);
      at = newline + 1;
    } else {
      m_partial.assign(at, length);
      return;
    }
  }
}

void LineFramer::flush(SendBuffer& out) {
  if (m_partial.empty()) return;
  put(m_partial, {}, false, out);
  m_partial.clear();
}

} // namespace shim::stepper
