#pragma once
// Before a starter is wired: does every execution host have it, and does it run there? A queue
// whose starter cannot be executed goes into error state for everybody. Spec install-doctor-ports
// 1.2.

#include "install_facts.h"

#include "slurm_shim/base/env_list.h"

#include <functional>

namespace shim::commands::admin {

// Through a small interactive job on each host. Error: a host where the files are not what is being
// installed. Hosts that nobody could ask (down, full, no right to submit) are told to `warn` and
// do not stop the installation.
[[nodiscard]] Result<void> verify_on_hosts(const InstallFacts& facts,
                                           const InstallOptions& options,
                                           const ge::Tools& tools,
                                           const std::function<void(const std::string&)>& say,
                                           const std::function<void(const std::string&)>& warn);

} // namespace shim::commands::admin
