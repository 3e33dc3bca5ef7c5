#pragma once
// Starting the batch script and reading how it ended. Spec job-files 4, decisions E2, E3.

#include "slurm_shim/base/result.h"

#include <string>
#include <vector>

#include <sys/types.h>

namespace shim::batchexec {

struct ScriptEnd {
  int code = 0; // true exit code; 128 + sig after a signal
  int sig = 0;
};
[[nodiscard]] ScriptEnd script_end(int wait_status);

// What the engine is told: 99 would rerun the job and 100 put it into error state, so these two
// become 1 unless a requeue was accepted.
[[nodiscard]] int engine_exit_code(const ScriptEnd& end, bool requeue);

// Starts words[0] with our stdin, stdout and stderr in our process group, or, with a terminal (its
// descriptor, else -1), in a session of its own there. An error has the exit code (126, 127) and
// the message that bash would have given.
[[nodiscard]] Result<pid_t> start_script(const std::vector<std::string>& words,
                                         const std::vector<std::string>& env,
                                         int terminal = -1);

} // namespace shim::batchexec
