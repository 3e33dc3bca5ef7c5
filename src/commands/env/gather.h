#pragma once
// The facts a job's environment is made from: the submit record, hosts, addresses, and what only
// the engine knows. Spec environment 2, job-files 2 and 4.

#include "slurm_shim/context/context.h"
#include "slurm_shim/fabricate/fabricate.h"

namespace shim::commands::env {

// What needs neither hosts nor engine. A record that cannot be read is a warning and no record; one
// whose file does not become visible is an error.
[[nodiscard]] Result<void> gather_job(context::Context& ctx, fabricate::JobFacts& facts);

// Hosts, the master's address and the grants: at most one question to the engine, bounded.
[[nodiscard]] Result<void> gather_hosts(context::Context& ctx, fabricate::JobFacts& facts);

} // namespace shim::commands::env
