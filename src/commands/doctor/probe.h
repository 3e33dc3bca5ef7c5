#pragma once
// `doctor --probe`: a small job of the caller's that shows what jobs see. The script and the
// judgement are pure; run_probe submits, waits and cleans up. Spec install-doctor-ports 2, P01 to
// P06.

#include "survey.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace shim::commands::doctor {

struct ProbeOutput {
  bool began = false, ended = false;      // the script's first and last lines are there
  std::map<std::string, std::string> job; // SLURM_* of the script
  std::map<int, std::map<std::string, std::string>> ranks; // label of srun -l -> variables
  std::string exit_code;                                   // of the step that ends with 3
  std::vector<std::string> strange;                        // lines of ranks without a label
};
[[nodiscard]] std::string probe_script(const std::string& bin);
[[nodiscard]] ProbeOutput parse_probe_output(std::string_view text);

struct Probe {
  std::string job;         // "" = not submitted
  std::string submit_said; // what sbatch printed
  int nodes = 0;
  bool wants_gpu = false;
  bool in_time = false;
  std::string reasons; // why it did not start
  ProbeOutput output;
  std::string accounting; // sacct's "State|ExitCode"
};
[[nodiscard]] Probe run_probe(Survey& s);

// P01 to P06, in this order.
[[nodiscard]] std::vector<Finding> judge_probe(const Probe& probe);

} // namespace shim::commands::doctor
