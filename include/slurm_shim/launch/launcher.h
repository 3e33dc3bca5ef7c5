#pragma once
// Starts one stepper on one host and hands over its process; watching, retrying and reaping are the
// caller's. A local stepper stays in srun's process group (the engine's STOP and KILL must reach
// it) and may be killed; a qrsh client has a session of its own and is never signalled, since its
// end by a signal would make Grid Engine kill the job (decision 7a). Spec launch 2.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/base/result.h"
#include "slurm_shim/launch/qrsh.h"
#include "slurm_shim/posix/fd.h"
#include "slurm_shim/proto/token.h"

#include <sys/types.h>

namespace shim::launch {

struct Started {
  pid_t pid = -1;
  posix::Fd stderr_pipe; // qrsh only: non-blocking; a local stepper writes to srun's stderr
};

// `own`: srun's environment. Errors: unavailable, exit code 8.
[[nodiscard]] Result<Started> start_local_stepper(const std::string& self,
                                                  const std::string& envelope,
                                                  const EnvList& own,
                                                  const proto::Token& token);
// `qrsh`: absolute path (ge::locate_tool).
[[nodiscard]] Result<Started> start_remote_stepper(const std::string& qrsh,
                                                   const QrshTarget& target,
                                                   const EnvList& own,
                                                   const proto::Token& token);

} // namespace shim::launch
