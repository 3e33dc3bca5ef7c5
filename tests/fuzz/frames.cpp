// The frames of the control channel and what lies in them. The same bytes must give the same frames
// however they are cut into reads, and what is read is written back the same.
#include "fuzz.h"

#include "slurm_shim/proto/frame.h"
#include "slurm_shim/proto/messages.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace shim::proto;

struct Seen {
  std::string frames; // encoded again
  bool broken = false;
  bool partial = false;
};

Seen read_in_pieces(std::string_view bytes, std::size_t piece) {
  static std::vector<char> buffer(k_receive_buffer);
  FrameStream stream;
  Seen seen;
  while (!bytes.empty() && !seen.broken) {
    const auto kept = stream.begin(buffer);
    const auto n = std::min(piece, bytes.size());
    std::copy_n(bytes.begin(), n, buffer.begin() + static_cast<std::ptrdiff_t>(kept));
    bytes.remove_prefix(n);
    const auto done = stream.finish({buffer.data(), kept + n}, [&](const FrameView& frame) {
      append_frame(seen.frames,
                   static_cast<FrameType>(frame.header.type),
                   frame.header.flags,
                   frame.header.rank,
                   frame.payload);
      return shim::Result<void>();
    });
    seen.broken = !done;
  }
  seen.partial = stream.holds_partial_frame();
  return seen;
}

void read_payload(std::string_view payload) {
  if (const auto hello = parse_hello(payload)) {
    const auto again = encode_hello(hello->token, hello->host);
    const auto twice = parse_hello(again);
    SHIM_ASSERT(twice && twice->token == hello->token && twice->host == hello->host);
  }
  if (const auto exit = decode_rank_exit(payload)) {
    const auto twice = decode_rank_exit(encode_rank_exit(*exit));
    SHIM_ASSERT(twice && twice->code == exit->code && twice->wait_status == exit->wait_status);
  }
  if (const auto failed = decode_rank_fail(payload)) {
    const auto twice = decode_rank_fail(encode_rank_fail(*failed));
    SHIM_ASSERT(twice && twice->code == failed->code);
    SHIM_ASSERT(twice->reason == failed->reason.substr(0, k_max_reason));
  }
  if (const auto size = decode_window_size(payload))
    SHIM_ASSERT(decode_window_size(encode_window_size(*size)).has_value());
}

} // namespace

void fuzz(std::string_view bytes) {
  const auto whole = read_in_pieces(bytes, std::max<std::size_t>(bytes.size(), 1));
  const auto pieces = read_in_pieces(bytes, 7);
  SHIM_ASSERT(whole.broken == pieces.broken && whole.frames == pieces.frames);
  SHIM_ASSERT(bytes.substr(0, whole.frames.size()) == whole.frames);
  SHIM_ASSERT(whole.broken || whole.partial == (whole.frames.size() < bytes.size()));
  read_payload(bytes);
}
