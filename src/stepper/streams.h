#pragma once
// What a rank's stdin, stdout and stderr are: a file of the rank's own, a pipe whose other end the
// front has, a pseudo terminal, or nothing. All files are opened before READY, so that one that
// cannot be opened fails the host before anything was started. Spec stepper 1.4 and 4, launch 7.

#include "slurm_shim/base/result.h"
#include "slurm_shim/posix/fd.h"
#include "slurm_shim/proto/step_spec.h"

#include <vector>

namespace shim::stepper {

struct RankStreams {
  // What the rank gets as 0, 1 and 2. No [0]: nothing to read, or the terminal. No [2]: the same
  // descriptor as [1].
  posix::Fd rank_end[3];
  // The front's; none where the rank reads or writes a file. A terminal is written to through [0]
  // and read from through [1].
  posix::Fd front_end[3];
  bool is_terminal = false;

  // For the spawn: a descriptor, or posix::k_null_fd.
  [[nodiscard]] int rank_fd(std::size_t stream) const;
};

// In rank order, stdin before stdout before stderr. The error's text is what the ranks are reported
// with.
[[nodiscard]] Result<std::vector<RankStreams>> open_streams(const proto::StepSpec& spec);

} // namespace shim::stepper
