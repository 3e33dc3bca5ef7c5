#pragma once
// The only writer of an installation: executes a plan action by action, reads every change of
// Grid Engine's back (old qconfs end with 0 on errors), and keeps the manifest. Spec
// install-doctor-ports 1.4.

#include "install_plan.h"

#include "slurm_shim/ge/qconf.h"
#include "slurm_shim/posix/clock.h"
#include "slurm_shim/posix/runner.h"

#include <functional>

namespace shim::commands::admin {

struct Applied {
  std::size_t done = 0; // actions that were executed or needed nothing
  std::optional<Error> error;
};

// `say`: one line per change, as it happens.
[[nodiscard]] Applied apply_plan(const Plan& plan,
                                 const InstallFacts& facts,
                                 const InstallOptions& options,
                                 const ge::Qconf& qconf,
                                 posix::Runner& runner,
                                 const std::function<void(const std::string&)>& say);

// <prefix>/etc/install.json: version, time, files with their SHA-256, what was made, and what the
// queues had before; an earlier manifest's entries stay.
[[nodiscard]] Result<void> write_manifest(const Plan& plan,
                                          std::size_t done,
                                          const InstallOptions& options,
                                          posix::Runner& runner,
                                          posix::Clock& clock);

} // namespace shim::commands::admin
