#pragma once
// <prefix>/etc/install.json: what an installation made, and what was there before. Spec
// install-doctor-ports 1.2.

#include "install_plan.h"

#include "slurm_shim/posix/clock.h"
#include "slurm_shim/posix/runner.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace shim::commands::admin {

struct Manifest {
  std::map<std::string, std::string> files; // path -> SHA-256, "" = unknown
  std::set<std::string> links;
  struct Pe {
    bool created = false;
    std::map<std::string, std::string> before; // attribute -> value
  };
  std::map<std::string, Pe> pes;
  struct Queue {
    std::vector<std::string> pe_list_added;
    std::map<std::string, std::string> before;
  };
  std::map<std::string, Queue> queues; // "batch.q", "batch.q@host"
};

[[nodiscard]] std::string manifest_path(const InstallOptions& options);

// Errors: not_found, malformed (naming the file).
[[nodiscard]] Result<Manifest> read_manifest(const std::string& path);

// Version, time, files with their SHA-256, what was made, and what the queues had before; an
// earlier manifest's entries stay.
[[nodiscard]] Result<void> write_manifest(const Plan& plan,
                                          std::size_t done,
                                          const InstallOptions& options,
                                          posix::Runner& runner,
                                          posix::Clock& clock);

// SHA-256 of the files that exist, by sha256sum; a missing tool or file: no sum.
[[nodiscard]] std::map<std::string, std::string> checksums(posix::Runner& runner,
                                                           const std::vector<std::string>& files);

} // namespace shim::commands::admin
