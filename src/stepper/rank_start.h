#pragma once
// One rank from its specification to a running process, or the reason why it never ran, in Slurm's
// words. Called by the guardian alone. Spec stepper 2-3, protocol 2 (RANK_FAIL).

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/posix/affinity.h"
#include "slurm_shim/posix/spawn.h"
#include "slurm_shim/proto/messages.h"
#include "slurm_shim/proto/step_spec.h"

#include <string>
#include <vector>

namespace shim::stepper {

struct RankStdio {
  int in = posix::k_null_fd;
  int out = -1;
  int err = -1;
  bool is_terminal = false; // it becomes the controlling terminal of a session of the rank's own
};

class RankStarter {
public:
  // `directory` is where the ranks run (the caller's current directory), for messages.
  RankStarter(const proto::StepSpec& spec,
              std::string host,
              std::string directory,
              posix::OpenFileLimit open_files);
  [[nodiscard]] tl::expected<pid_t, proto::RankFail> start(const proto::RankSpec& rank,
                                                           const RankStdio& stdio) const;
  // --task-epilog, when the task with that pid has ended. The error: why it cannot be started.
  [[nodiscard]] tl::expected<pid_t, std::string>
  start_epilog(const proto::RankSpec& rank, const RankStdio& stdio, pid_t task) const;

private:
  [[nodiscard]] proto::RankFail explain(const posix::SpawnError& error,
                                        const posix::SpawnRequest& request) const;

  [[nodiscard]] std::vector<int> usable_cpus(std::vector<int> positions, bool if_limited) const;

  const proto::StepSpec& m_spec;
  EnvList m_step_env;
  std::string m_host;
  std::string m_directory;
  posix::OpenFileLimit m_open_files;
  std::vector<int> m_allowed = posix::allowed_cpus();
  bool m_is_limited = false; // there are more CPUs on this host
};

// The interpreter of the script `path` ("#!/no/interp -x" gives "/no/interp"), or "".
[[nodiscard]] std::string interpreter_of(const std::string& path);

} // namespace shim::stepper
