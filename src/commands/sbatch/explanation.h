#pragma once
// What `slurm-shim explain sbatch` tells: where every value came from, what it became, what was
// approximated and why. Pure: made from a translated request, shown as text or JSON.

#include "input.h"

#include "slurm_shim/submit/translate.h"

#include <string>
#include <vector>

namespace shim::commands::sbatch {

struct OptionFate {
  std::string name, value; // long name; "" = given without a value
  cli::Origin origin;
  bool in_force = true; // another source, or a later place of the same, did not replace it
  // translated: words of qsub. kept: the record, the job's supervisor or sbatch itself serve it.
  // accepted: has no effect here, as is fine. warned: not translated. ignored: not Slurm's option.
  std::string fate;
  std::string becomes;            // for translated
  std::vector<std::string> notes; // what was approximated or left out
};

struct Explanation {
  std::string script; // as the user named it; "" = stdin or --wrap
  std::string partition, partition_from;
  std::vector<std::string> queues;
  std::string pe;
  submit::Geometry geometry;
  int cpus_per_task = 1;
  std::string time_from; // of the limit in force: option, partition's default, none
  std::optional<std::uint32_t> minutes;
  std::vector<std::string> qsub; // the whole call
  std::string record;            // value of SLURM_SHIM_REQ
  bool engine_answered = true, has_par = false;
  std::string engine_trouble; // why it did not answer
  std::string config_file;    // "" = built-in defaults
  std::vector<OptionFate> options;
  std::vector<std::string> warnings; // all of them, as sbatch would print
  std::vector<std::string> notices;  // Slurm's own
};

// What qsub is asked, the complex that memory is asked by, and the file that is qsub's -o where
// the job's own supervisor opens what the user asked for.
struct Asked {
  const std::vector<std::string>& qsub;
  const std::string& memory_complex;
  const std::string& log;
};
// Options in the order in which they were given, the highest source last.
[[nodiscard]] std::vector<OptionFate>
fates_of(const Values& values, const Asked& asked, const std::vector<std::string>& warnings);

[[nodiscard]] std::string explanation_text(const Explanation& explanation);
[[nodiscard]] std::string explanation_json(const Explanation& explanation);
// Of a request that sbatch refuses: its own message and exit code.
[[nodiscard]] std::string refusal_json(const std::string& message, int exit_code);

} // namespace shim::commands::sbatch
