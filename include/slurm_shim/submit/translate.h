#pragma once
// Request, configuration and what is known about the engine, to one submission: the qsub call, the
// submit record, the warnings. Pure. Whatever cannot be honoured is an error or a warning that
// names it (decision 22). Spec sbatch-translate 3-11, job-files 2 and 4.

#include "slurm_shim/config/config.h"
#include "slurm_shim/ge/qsub.h"
#include "slurm_shim/records/submit_record.h"
#include "slurm_shim/submit/facts.h"
#include "slurm_shim/submit/geometry.h"
#include "slurm_shim/submit/request.h"
#include "slurm_shim/submit/script.h"

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shim::submit {

struct Situation {
  std::string directory;         // of sbatch
  bool chdir_is_missing = false; // --chdir names no directory on this host
  std::string host;
  std::string user;
  std::string cluster; // its name: the cell
  std::string token;   // of this submission
  std::string state;   // S, absolute
  std::string log;     // S/submit/<tok>.log
  std::time_t now = 0;
  unsigned umask = 022;
  // Path and content of the caller's own request files of the engine.
  std::vector<std::pair<std::string, std::string>> request_files;
  std::vector<std::string> passed_variables; // SLURM_SHIM_CONFIG ..., those that are set
  std::vector<std::string> arguments;        // of the script
};

struct Submission {
  ge::QsubRequest qsub; // `script` is filled in by the caller
  records::SubmitRecord record;
  std::vector<std::string> notices;       // Slurm's own lines, complete
  std::vector<std::string> warnings;      // ours, without prefix: "--option: text"
  std::vector<StartWait> wait_for_starts; // for wait_for_starts() once the number is known
  std::string partition;                  // as asked for, or the default's; "" = none
  Geometry geometry;
};

[[nodiscard]] Result<Submission> translate(const Request& request,
                                           const Script& script,
                                           const config::Config& config,
                                           const EngineFacts& facts,
                                           const Situation& situation);

// The refusal of a partition that does not exist ("" reads "(null)"), as Slurm prints it.
[[nodiscard]] tl::unexpected<Error> refuse_partition(std::string_view name);

} // namespace shim::submit
