#pragma once
// The command line of `slurm-shim install`. Spec install-doctor-ports 1.1.

#include "slurm_shim/base/result.h"

#include <optional>
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
  bool skip_blocked = false; // apply the rest of a plan that has blocked entries
  bool trust_shared = false; // do not look at the execution hosts
  std::string verify_user;   // as whom to look; "" = found
  bool uninstall = false;
  bool purge = false; // --uninstall: the configuration, too
  // Members of the family of PEs with fixed rules: numbers, "smp", "fill". Nothing of it when the
  // engine pins layouts itself, unless it was asked for.
  std::vector<std::string> family;
  bool family_given = false;

  std::optional<std::string> help; // to print instead of working
};

// Errors (usage, exit 1) name the word that is wrong.
[[nodiscard]] Result<InstallOptions> parse_install_options(const std::vector<std::string>& words);

} // namespace shim::commands::admin
