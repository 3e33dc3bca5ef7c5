#pragma once
// The terminal of an interactive job's command: a pseudo terminal here. Its keys, and what the
// user's own terminal looks like, come on our stdin as frames of the control channel
// (records/interactive.h); what it shows goes to our stdout. The engine's own terminal is of no
// use: 8.1.9 kills the start procedure of the parallel environment in a job of `qrsh -pty y`.
// Decision E10.

#include "slurm_shim/base/result.h"
#include "slurm_shim/posix/fd.h"

#include <sys/types.h>

namespace shim::batchexec {

class Terminal {
public:
  // Waits for the first frame (30 s) and starts the process that carries everything from then on.
  [[nodiscard]] static Result<Terminal> open();

  [[nodiscard]] int fd() const { return m_slave.get(); } // the command's 0, 1 and 2
  void handed_over() { m_slave.reset(); }
  void wait() const; // until what the command has shown is passed on

private:
  Terminal(posix::Fd slave, pid_t carrier) : m_slave(std::move(slave)), m_carrier(carrier) {}
  posix::Fd m_slave;
  pid_t m_carrier = -1;
};

} // namespace shim::batchexec
