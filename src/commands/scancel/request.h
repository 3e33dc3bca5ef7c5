#pragma once
// What one scancel call asks for: ids, filters and the signal, checked. Needs no engine.
// Spec commands 3, decision 22b, vectors/11.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/cli/parse.h"
#include "slurm_shim/queue/queue.h"
#include "slurm_shim/slurm/job_id.h"
#include "slurm_shim/slurm/states.h"

#include <optional>
#include <string>
#include <vector>

namespace shim::commands::scancel {

struct Request {
  std::vector<slurm::JobRef> jobs; // empty = whatever the filters leave
  std::vector<std::string> users, names, partitions, hosts;
  std::vector<std::string> accounts, qos, reservations, wckeys;
  std::vector<slurm::JobState> states;
  std::optional<int> signal; // nothing: end the job
  bool me = false, batch = false, full = false;
  bool interactive = false, quiet = false, verbose = false;
  [[nodiscard]] bool has_filter() const {
    return me || !users.empty() || !names.empty() || !partitions.empty() || !hosts.empty() ||
           !states.empty() || !accounts.empty() || !qos.empty() || !reservations.empty() ||
           !wckeys.empty();
  }
  // Ends the whole job, which is the engine's work; anything else is the job's supervisor's.
  [[nodiscard]] bool ends_job() const;
};

// Errors carry Slurm's text without prefix; several lines where Slurm prints several. A bad signal
// is Slurm's "Unknown job signal: X", printed without any prefix (`ErrorKind::malformed`).
[[nodiscard]] Result<Request> make_request(const cli::Parsed& parsed, const EnvList& env);
// All filters must hold (AND); ids are the caller's business.
[[nodiscard]] bool keeps(const Request& request, const queue::Job& job);

} // namespace shim::commands::scancel
