#include "slurm_shim/proto/frame.h"

#include "slurm_shim/base/assert.h"

namespace shim::proto {

namespace {

void put_u32(std::uint32_t value, unsigned char* out) {
  out[0] = static_cast<unsigned char>(value >> 24U);
  out[1] = static_cast<unsigned char>(value >> 16U);
  out[2] = static_cast<unsigned char>(value >> 8U);
  out[3] = static_cast<unsigned char>(value);
}

std::uint32_t get_u32(const unsigned char* in) {
  return (std::uint32_t{in[0]} << 24U) | (std::uint32_t{in[1]} << 16U) |
         (std::uint32_t{in[2]} << 8U) | std::uint32_t{in[3]};
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

} // namespace

void encode_header(const FrameHeader& header, unsigned char (&out)[k_header_bytes]) {
  out[0] = header.type;
  out[1] = header.flags;
  put_u32(header.rank, out + 2);
  put_u32(header.length, out + 6);
}

FrameHeader decode_header(const unsigned char* bytes) {
  return FrameHeader{bytes[0], bytes[1], get_u32(bytes + 2), get_u32(bytes + 6)};
}

void append_frame(std::string& buffer,
                  FrameType type,
                  std::uint8_t flags,
                  std::uint32_t rank,
                  std::string_view payload) {
  SHIM_ASSERT(payload.size() <= k_max_payload);
  unsigned char header[k_header_bytes];
  encode_header(
      {static_cast<std::uint8_t>(type), flags, rank, static_cast<std::uint32_t>(payload.size())},
      header);
  buffer.append(reinterpret_cast<const char*>(header), k_header_bytes);
  buffer.append(payload);
}

std::string encode_i32(std::int32_t value) {
  unsigned char bytes[4];
  put_u32(static_cast<std::uint32_t>(value), bytes);
  return {reinterpret_cast<const char*>(bytes), sizeof bytes};
}

std::optional<std::int32_t> decode_i32(std::string_view payload) {
  if (payload.size() < 4) return std::nullopt;
  return static_cast<std::int32_t>(get_u32(bytes_of(payload)));
}

Result<std::optional<FrameView>>
parse_frame(std::string_view bytes, std::size_t& consumed, std::size_t max_payload) {
  if (bytes.size() < k_header_bytes) return std::optional<FrameView>{};
  const auto header = decode_header(bytes_of(bytes));
  if (header.length > max_payload)
    return fail(ErrorKind::malformed,
                "frame of " + std::to_string(header.length) + " bytes exceeds " +
                    std::to_string(max_payload));
  if (bytes.size() - k_header_bytes < header.length) return std::optional<FrameView>{};
  consumed = k_header_bytes + header.length;
  return FrameView{header, bytes.substr(k_header_bytes, header.length)};
}

std::string encode_hello(std::string_view token, std::string_view host) {
  std::string payload(token);
  payload += '\0';
  payload += host;
  payload += '\0';
  payload += k_version_text;
  return payload;
}

std::optional<Hello> parse_hello(std::string_view payload) {
  const auto first = payload.find('\0');
  if (first == std::string_view::npos) return std::nullopt;
  Hello hello;
  hello.token = payload.substr(0, first);
  auto rest = payload.substr(first + 1);
  const auto second = rest.find('\0');
  hello.host = rest.substr(0, second);
  if (second != std::string_view::npos) hello.version = rest.substr(second + 1);
  return hello;
}

std::size_t FrameStream::begin(std::span<char> buffer) {
  SHIM_ASSERT(m_carry.size() < buffer.size());
  m_carry.copy(buffer.data(), m_carry.size());
  const auto kept = m_carry.size();
  m_carry.clear();
  return kept;
}

void FrameStream::keep(std::string_view rest) {
  m_carry.assign(rest);
  // A long frame's first part must not pin a megabyte per idle connection for ever.
  if (m_carry.capacity() > k_max_out * 2 && m_carry.size() < k_max_out) m_carry.shrink_to_fit();
}

} // namespace shim::proto
