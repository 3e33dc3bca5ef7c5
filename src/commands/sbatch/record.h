#pragma once
// The submit record of a request: every key that slurm_shim/records/submit_record.h lists. Pure.

#include "geometry.h"
#include "request.h"
#include "script.h"
#include "translate.h"

#include "slurm_shim/records/submit_record.h"

#include <cstdint>
#include <optional>
#include <string>

namespace shim::commands::sbatch {

struct Effective {  // what the request came down to
  std::string name; // the job's, unsanitised
  std::string partition;
  std::string directory; // working directory, absolute
  std::string output;    // patterns
  std::optional<std::string> error;
  std::string input;
  std::optional<std::uint32_t> minutes; // nothing: no limit
  bool requeue = true;
};

[[nodiscard]] records::SubmitRecord make_record(const Request& request,
                                                const Script& script,
                                                const config::Config& config,
                                                const Geometry& geometry,
                                                const Effective& effective,
                                                const Situation& situation);

// Position of -n and the like: SLURM_NTASKS is set in the job (decision 18).
[[nodiscard]] bool tasks_were_given(const Request& request);

} // namespace shim::commands::sbatch
