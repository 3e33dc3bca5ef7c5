#pragma once
// Request, configuration and what is known about the engine, to one submission: the qsub call, the
// submit record, the warnings. Pure. Whatever cannot be honoured is an error or a warning that
// names it (decision 22). Spec sbatch-translate 3-11, job-files 2 and 4.

#include "geometry.h"
#include "request.h"
#include "script.h"

#include "slurm_shim/config/config.h"
#include "slurm_shim/ge/qsub.h"
#include "slurm_shim/records/submit_record.h"

#include <ctime>
#include <optional>
#include <string>
#include <vector>

namespace shim::commands::sbatch {

struct EngineFacts {
  bool has_par = false;
  // Cluster queues; nothing: not asked (partitions are configured) or no answer.
  std::optional<std::vector<std::string>> queues;
  // Execution hosts; nothing: not asked (no host was named) or no answer.
  std::optional<std::vector<std::string>> hosts;
  std::string memory_kind = "slot"; // how the memory complex counts: slot, host, job, none
};

struct Situation {
  std::string directory; // of sbatch
  std::string host;
  std::string user;
  std::string cluster; // its name: the cell
  std::string token;   // of this submission
  std::string state;   // S, absolute
  std::string log;     // S/submit/<tok>.log
  std::time_t now = 0;
  std::vector<std::string> passed_variables; // SLURM_SHIM_CONFIG ..., those that are set
  std::vector<std::string> arguments;        // of the script
};

struct Submission {
  ge::QsubRequest qsub; // `script` is filled in by the caller
  records::SubmitRecord record;
  std::vector<std::string> notices;  // Slurm's own lines, complete
  std::vector<std::string> warnings; // ours, without prefix
};

[[nodiscard]] Result<Submission> translate(const Request& request,
                                           const Script& script,
                                           const config::Config& config,
                                           const EngineFacts& facts,
                                           const Situation& situation);

// The refusal of a partition that does not exist ("" reads "(null)"), as Slurm prints it.
[[nodiscard]] tl::unexpected<Error> refuse_partition(std::string_view name);

} // namespace shim::commands::sbatch
