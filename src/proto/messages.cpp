#include "slurm_shim/proto/messages.h"

#include "slurm_shim/proto/frame.h"

namespace shim::proto {

std::string encode_rank_exit(const RankExit& exit) {
  return encode_i32(exit.code) + encode_i32(exit.wait_status);
}

std::optional<RankExit> decode_rank_exit(std::string_view payload) {
  const auto code = decode_i32(payload);
  if (!code) return std::nullopt;
  const auto status = decode_i32(payload.substr(4));
  return RankExit{*code, status.value_or((*code & 0xff) << 8)};
}

std::string encode_rank_fail(const RankFail& fail) {
  return encode_i32(fail.code) + fail.reason.substr(0, k_max_reason);
}

std::optional<RankFail> decode_rank_fail(std::string_view payload) {
  const auto code = decode_i32(payload);
  if (!code) return std::nullopt;
  return RankFail{*code, std::string(payload.substr(4, k_max_reason))};
}

std::string encode_window_size(const posix::WindowSize& size) {
  std::string out;
  for (const auto value : {size.rows, size.columns, size.x_pixels, size.y_pixels}) {
    out += static_cast<char>(value >> 8U);
    out += static_cast<char>(value & 0xffU);
  }
  return out;
}

std::optional<posix::WindowSize> decode_window_size(std::string_view payload) {
  if (payload.size() < 8) return std::nullopt;
  const auto value = [&payload](std::size_t index) {
    const auto high = static_cast<unsigned char>(payload[2 * index]);
    const auto low = static_cast<unsigned char>(payload[2 * index + 1]);
    return static_cast<std::uint16_t>((high << 8U) | low);
  };
  return posix::WindowSize{value(0), value(1), value(2), value(3)};
}

} // namespace shim::proto
