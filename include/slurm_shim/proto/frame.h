#pragma once
// The frame codec of the control channel: 10-byte header (type, flags, rank, length; big-endian)
// and at most 1 MiB of payload. Pure: bytes in, bytes out. Spec protocol 2.

#include "slurm_shim/base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace shim::proto {

inline constexpr std::size_t k_header_bytes = 10;
inline constexpr std::size_t k_max_payload = std::size_t{1} << 20;
inline constexpr std::size_t k_max_hello = 512;                  // before authentication
inline constexpr std::size_t k_max_out = 65536;                  // one OUT payload
inline constexpr std::size_t k_max_spec = std::size_t{64} << 20; // all SPEC pieces together

enum class FrameType : std::uint8_t {
  hello = 1,
  spec = 2,
  ready = 3,
  out = 4,
  rank_exit = 5,
  rank_fail = 6,
  sig = 7,
  ping = 8,
  pong = 9,
  in = 11,
  in_ack = 12,
  window_size = 14, // srun -> stepper: its terminal has another size (messages.h)
};
inline constexpr std::uint8_t k_out_stderr = 0x01;     // OUT: stderr, else stdout
inline constexpr std::uint8_t k_out_eol = 0x02;        // OUT: a line feed followed
inline constexpr std::uint8_t k_in_end = 0x02;         // IN: the end of stdin, behind the payload
inline constexpr std::uint8_t k_in_others_wait = 0x04; // IN: see k_input_window
inline constexpr std::uint8_t k_ack_closed = 0x02;     // IN_ACK: nobody on the host reads any more
inline constexpr std::uint8_t k_spec_more = 0x01;      // SPEC: more pieces follow

inline constexpr std::uint32_t k_all_ranks = 0xffffffff; // IN: all ranks of the host that read
// Standard input per host: so many bytes may be on their way, or held by the stepper, without an
// IN_ACK (u32: bytes that are held no longer). A host that uses its window up holds srun's reading
// back; when ranks of other hosts wait for that, it is told so and puts the bytes of those who do
// not read aside.
inline constexpr std::size_t k_input_window = std::size_t{512} << 10;

struct FrameHeader {
  std::uint8_t type = 0; // unknown types are delivered and ignored
  std::uint8_t flags = 0;
  std::uint32_t rank = 0;
  std::uint32_t length = 0;
};

void encode_header(const FrameHeader& header, unsigned char (&out)[k_header_bytes]);
[[nodiscard]] FrameHeader decode_header(const unsigned char* bytes); // k_header_bytes readable
// Appends one whole frame. SHIM_ASSERTs payload <= k_max_payload.
void append_frame(std::string& buffer,
                  FrameType type,
                  std::uint8_t flags,
                  std::uint32_t rank,
                  std::string_view payload);
[[nodiscard]] std::string encode_i32(std::int32_t value);
// nullopt when shorter than 4 bytes (a protocol violation).
[[nodiscard]] std::optional<std::int32_t> decode_i32(std::string_view payload);

struct FrameView {
  FrameHeader header;
  std::string_view payload; // into the bytes given
};
// The first whole frame of `bytes`: nullopt = more bytes are needed. Error (malformed) when its
// length is above `max_payload`. `consumed` = bytes of the frame.
[[nodiscard]] Result<std::optional<FrameView>>
parse_frame(std::string_view bytes, std::size_t& consumed, std::size_t max_payload = k_max_payload);

// HELLO: token NUL host NUL "v=1".
struct Hello {
  std::string_view token, host, version; // version "" when the peer sent none
};
inline constexpr std::string_view k_version_text = "v=1";
[[nodiscard]] std::optional<Hello> parse_hello(std::string_view payload);
[[nodiscard]] std::string encode_hello(std::string_view token, std::string_view host);

// One per connection: keeps the beginning of an unfinished frame between two reads, so that all
// connections of a process can share one big read buffer and frames are parsed in place.
//   n = stream.begin(buffer); got = read(fd, buffer + n, rest); stream.finish({buffer, n + got},
//   f);
inline constexpr std::size_t k_receive_buffer = k_max_payload + 65536;
class FrameStream {
public:
  // Moves the kept bytes to the front of `buffer` (k_receive_buffer bytes); tells how many.
  [[nodiscard]] std::size_t begin(std::span<char> buffer);
  // Calls handler(const FrameView&) -> Result<void> for every whole frame and keeps the rest.
  template <class Handler>
  [[nodiscard]] Result<void>
  finish(std::string_view bytes, Handler&& handler, std::size_t max_payload = k_max_payload) {
    while (!bytes.empty()) {
      std::size_t used = 0;
      TRY_ASSIGN(const auto frame, parse_frame(bytes, used, max_payload));
      if (!frame) break;
      TRY(handler(*frame));
      bytes.remove_prefix(used);
    }
    keep(bytes);
    return {};
  }
  [[nodiscard]] bool holds_partial_frame() const { return !m_carry.empty(); }

private:
  void keep(std::string_view rest);
  std::string m_carry;
};

} // namespace shim::proto
