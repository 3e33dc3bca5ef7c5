#pragma once
// The command line of `slurm-shim install`. Spec install-doctor-ports 1.1.

#include "slurm_shim/base/result.h"

#include <string>
#include <vector>

namespace shim::commands::admin {

struct InstallOptions {
  bool apply = false;
  std::string prefix; // "" = $SGE_ROOT/slurm-shim
  std::string pe = "slurm-shim";
  std::vector<std::string> queues; // empty = every cluster queue that takes batch jobs
  bool starter = true;
  bool files = true;
  bool config = true;
  std::string config_file; // where a generated configuration goes; "" = <prefix>/etc/config.yaml
  bool json = false;
  bool yes = false;
  bool force_files = false;
  // Members of the family of PEs with fixed rules: numbers, "smp", "fill". Nothing of it when the
  // engine pins layouts itself, unless it was asked for.
  std::vector<std::string> family;
  bool family_given = false;

  bool help = false;
  std::string help_text;
};

// Errors (usage, exit 1) name the word that is wrong.
[[nodiscard]] Result<InstallOptions> parse_install_options(const std::vector<std::string>& words);

} // namespace shim::commands::admin
