#pragma once
// The words of `slurm-shim doctor`. Spec install-doctor-ports 2.

#include "slurm_shim/base/result.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace shim::commands::doctor {

struct Options {
  bool json = false;
  bool quiet = false;  // warnings and failures only
  bool strict = false; // warnings end with 1, too
  bool list = false;
  bool probe = false;
  std::string partition; // of the probe; "" = the default one
  int nodes = 2;         // of the probe
  std::chrono::seconds timeout{120};
  std::vector<std::string> hosts;  // "all" alone: every execution host
  std::vector<std::string> checks; // ids; empty = all
  std::string config_file;         // "" = as every command finds it
  bool host_report = false;        // what doctor starts on other hosts
  std::string dial;                // address:port, of the host report
  std::string config_path;         // of the host report: the file to compare

  std::optional<std::string> help; // to print instead of working
};

// Errors: usage, naming the word that is wrong.
[[nodiscard]] Result<Options> parse_options(const std::vector<std::string>& words);

} // namespace shim::commands::doctor
