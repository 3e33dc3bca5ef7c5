#pragma once
// Options that no allocation of Grid Engine can keep: the job's steps are told of them, and the
// user that nothing else happens. Pure. Spec sbatch-translate 6.3, decision 22.

#include "slurm_shim/submit/request.h"

#include <string>
#include <vector>

namespace shim::submit {

// One warning for each, "--<option>: ...".
[[nodiscard]] std::vector<std::string> told_to_steps(const Request& request);

} // namespace shim::submit
