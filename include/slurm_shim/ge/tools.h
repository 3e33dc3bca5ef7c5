#pragma once
// Finding and running Grid Engine's tools. Owns the look-up order (decision 14b) and the settings
// every parsed call gets: LC_ALL=C, SGE_SINGLE_LINE=1, bounded time. Callers: ge's queries, sbatch,
// srun's qrsh launcher, install.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/base/result.h"
#include "slurm_shim/posix/runner.h"

#include <string>
#include <string_view>
#include <vector>

namespace shim::ge {

// Absolute path of `tool` ("qsub"): $SLURM_SHIM_GE_BIN (only there when it is set),
// $SGE_BINARY_PATH, $SGE_ROOT/bin/<arch>, PATH; each must be an executable file and no link to
// ourselves. <arch> = SGE_ARCH, ARC, else from uname. Error: unavailable, naming the tool and where
// it was looked for.
[[nodiscard]] Result<std::string> locate_tool(const EnvList& env, std::string_view tool);

class Tools {
public:
  Tools(posix::Runner& runner, const EnvList& env, std::chrono::milliseconds timeout)
      : m_runner(runner), m_env(env), m_timeout(timeout) {}

  struct Call {
    std::string tool;
    std::vector<std::string> args{};
    std::string input{};                  // stdin
    std::vector<std::string> extra_env{}; // NAME=VALUE added for this call
    std::chrono::milliseconds timeout{0}; // 0: the default of this object
  };
  // Exit status and both streams; Error (unavailable) only when it could not be run in time.
  [[nodiscard]] Result<posix::Output> run(const Call& call) const;
  // A program that is none of the engine's, found in PATH; stdin is empty.
  [[nodiscard]] Result<posix::Output>
  run_program(std::vector<std::string> argv,
              std::optional<std::chrono::milliseconds> timeout = std::nullopt) const;
  [[nodiscard]] const EnvList& env() const { return m_env; }

private:
  posix::Runner& m_runner;
  const EnvList& m_env;
  std::chrono::milliseconds m_timeout;
};

} // namespace shim::ge
