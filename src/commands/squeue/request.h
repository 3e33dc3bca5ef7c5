#pragma once
// What one squeue call asks for: options and SQUEUE_* variables, checked. Needs no engine.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/cli/parse.h"
#include "slurm_shim/queue/queue.h"
#include "slurm_shim/slurm/job_id.h"
#include "slurm_shim/slurm/states.h"

#include <string>
#include <vector>

namespace shim::commands::squeue {

struct Request {
  std::vector<slurm::JobRef> jobs; // empty = all
  std::vector<std::string> users, names, partitions, accounts, hosts;
  std::vector<slurm::JobState> states; // empty = all live ones
  bool me = false, header = true, long_form = false, split_arrays = false;
  std::string format, sort;
};

// Errors carry Slurm's text; some have two lines, each printed with the prefix.
[[nodiscard]] Result<Request> make_request(const cli::Parsed& parsed, const EnvList& env);
// Whether the filters keep a job. Users and ids of `me` are the caller's business.
[[nodiscard]] bool keeps(const Request& request, const queue::Job& job);

} // namespace shim::commands::squeue
