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

} // namespace shim::proto
