#pragma once
// What front and guardian tell each other over their SOCK_SEQPACKET pair: one message per packet,
// end of file = the other one is gone. Both ends are the same program image after a fork, so the
// packets are plain structures. OCS-FACTS-3 section 7 "Pipes".

#include "slurm_shim/base/result.h"

#include <cstdint>
#include <optional>
#include <string>

namespace shim::stepper {

// Front to guardian.
struct Command {
  enum class Kind : std::uint8_t {
    signal,    // number to all ranks, also those that are still to be started
    finish,    // the leaders have ended and were reported: sweep the strays, say clean, exit
    terminate, // TERM, `number` ms of grace, then the sweep
  };
  Kind kind = Kind::signal;
  int number = 0;
};

// Guardian to front. `rank` is the position in the host's list of ranks.
struct Event {
  enum class Kind : std::uint8_t {
    failed, // the rank never ran: exit code in `value`, reason in `text`
    exited, // wait status of the rank's leader in `value`
    clean,  // nothing of the step is left
  };
  Kind kind = Kind::clean;
  std::uint32_t rank = 0;
  int value = 0;
  std::string text;
};

enum class Received { message, nothing, closed };

// Commands never block (a full socket is told), events do: the front always reads them.
enum class Sent { done, would_block, closed };
[[nodiscard]] Sent send_command(int fd, const Command& command);
[[nodiscard]] Received receive_command(int fd, Command& command);
[[nodiscard]] Sent send_event(int fd, const Event& event);
[[nodiscard]] Received receive_event(int fd, Event& event);

} // namespace shim::stepper
