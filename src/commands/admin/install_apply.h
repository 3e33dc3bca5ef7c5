#pragma once
// The only writer of an installation: executes a plan action by action, reads every change of
// Grid Engine's back (old qconfs end with 0 on errors), and keeps the manifest. Spec
// install-doctor-ports 1.4.

#include "install_plan.h"
#include "install_undo.h"

#include "slurm_shim/ge/qconf.h"
#include "slurm_shim/posix/runner.h"

#include <functional>

namespace shim::commands::admin {

struct Applied {
  std::size_t done = 0; // actions that were executed or needed nothing
  std::optional<Error> error;
  Journal::Report undo; // with an error: what was taken back and what was not
};

// `say`: one line per change, as it happens. After an error everything is taken back; `done` is
// then what could not be.
[[nodiscard]] Applied apply_plan(const Plan& plan,
                                 const InstallFacts& facts,
                                 const InstallOptions& options,
                                 const ge::Qconf& qconf,
                                 const ge::Tools& tools,
                                 posix::Runner& runner,
                                 const std::function<void(const std::string&)>& say,
                                 const std::function<void(const std::string&)>& warn);

} // namespace shim::commands::admin
