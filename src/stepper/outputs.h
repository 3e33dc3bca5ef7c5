#pragma once
// Where a rank's stdout and stderr go: a file of the rank's own, or a pipe that the front reads.
// All files are opened before READY, so that one that cannot be opened fails the host before
// anything was started. Spec stepper 1.4 and 4.

#include "slurm_shim/base/result.h"
#include "slurm_shim/posix/fd.h"
#include "slurm_shim/proto/step_spec.h"

#include <vector>

namespace shim::stepper {

struct RankOutput {
  // What the rank gets as 1 and 2. An invalid [1] is the same descriptor as [0].
  posix::Fd write_end[2];
  posix::Fd read_end[2]; // the front's; invalid where the rank writes into a file

  [[nodiscard]] int rank_fd(std::size_t stream) const {
    return write_end[stream].valid() ? write_end[stream].get() : write_end[0].get();
  }
};

// In rank order, stdout before stderr. The error's text is what the ranks are reported with.
[[nodiscard]] Result<std::vector<RankOutput>> open_outputs(const proto::StepSpec& spec);

} // namespace shim::stepper
