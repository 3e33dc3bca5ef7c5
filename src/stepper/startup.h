#pragma once
// The stepper before it has ranks: argv, token, connection, HELLO, SPEC. One process, no loop;
// everything here ends in an error with its exit code or in what the front needs. Spec stepper 1,
// protocol 6.

#include "slurm_shim/base/result.h"
#include "slurm_shim/posix/fd.h"
#include "slurm_shim/proto/frame.h"
#include "slurm_shim/proto/step_spec.h"
#include "slurm_shim/proto/token.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shim::stepper {

// `--envelope X`, nothing else.
[[nodiscard]] Result<proto::Envelope> parse_arguments(std::span<char* const> args);

// From SLURM_SHIM_TOKEN, which is wiped from the environment, its memory included.
[[nodiscard]] Result<proto::Token> take_token();

struct Channel {
  posix::Fd socket;
  proto::FrameStream stream;
};
struct Start {
  proto::StepSpec spec;
  std::string frames; // whole ones that came right behind SPEC: SIG, IN
};
// Waits without a deadline (another host may be queued for minutes), answers PING. An empty message
// with exit code 143: TERM came on `signal_fd`.
[[nodiscard]] Result<Start> receive_spec(Channel& channel, int signal_fd, std::span<char> buffer);

// Sends all of a non-blocking socket, waiting as long as the peer is there. False: it is gone.
[[nodiscard]] bool send_all(int socket, std::string_view bytes);

} // namespace shim::stepper
