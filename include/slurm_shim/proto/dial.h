#pragma once
// The stepper's end of the connection set-up: connect to srun's listener by number and say HELLO.
// Blocking with deadlines, before any loop or thread exists. Spec protocol 1, launch 1 (dial
// address): no resolver is needed on the remote host.

#include "slurm_shim/base/result.h"
#include "slurm_shim/posix/fd.h"
#include "slurm_shim/proto/step_spec.h"
#include "slurm_shim/proto/token.h"

#include <chrono>
#include <string>
#include <string_view>

#include <netinet/in.h>
#include <sys/socket.h>

namespace shim::proto {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
};
// "10.0.0.11:34567" or "[fe80::1]:34567"; numbers only.
[[nodiscard]] Result<SocketAddress> parse_address(std::string_view text);

// TCP_NODELAY and keep-alive (15 s idle, 15 s interval, 9 probes), for both ends.
void set_channel_options(int fd);

// Tries envelope.dial, then dial_alt (3 s each when there are several addresses, `limit` in all),
// and sends HELLO. The descriptor comes back non-blocking. Error: unavailable, naming the
// addresses.
[[nodiscard]] Result<posix::Fd> dial(const Envelope& envelope,
                                     const Token& token,
                                     std::chrono::milliseconds limit = std::chrono::seconds(10));

} // namespace shim::proto
