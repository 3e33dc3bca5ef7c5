#pragma once
// The submit record of a request: every key that slurm_shim/records/submit_record.h lists. Pure.

#include "slurm_shim/records/submit_record.h"
#include "slurm_shim/submit/geometry.h"
#include "slurm_shim/submit/request.h"
#include "slurm_shim/submit/script.h"
#include "slurm_shim/submit/translate.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shim::submit {

struct Effective {  // what the request came down to
  std::string name; // the job's, unsanitised
  std::string partition;
  std::string directory; // working directory, absolute
  std::string output;    // patterns
  std::optional<std::string> error;
  std::string input;
  std::optional<std::uint32_t> minutes;          // nothing: no limit
  std::vector<std::string> unknown_predecessors; // engine's numbers
  bool requeue = true;
};

[[nodiscard]] records::SubmitRecord make_record(const Request& request,
                                                const Script& script,
                                                const config::Config& config,
                                                const Geometry& geometry,
                                                const Effective& effective,
                                                const Situation& situation);

// Seconds within which the login environment must be there; nothing: it is not wanted.
[[nodiscard]] std::optional<int> login_timeout(const Request& request);

// Position of -n and the like: SLURM_NTASKS is set in the job (decision 18).
[[nodiscard]] bool tasks_were_given(const Request& request);

} // namespace shim::submit
