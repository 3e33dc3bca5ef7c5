#pragma once
// The job's folder J as the hook makes it: checked, emptied of what an earlier run of the job left,
// and filled in an order in which a half-made folder is never taken for a good one. Spec
// job-files 1 and 4, environment 3.

#include "slurm_shim/base/result.h"
#include "slurm_shim/layout/layout.h"
#include "slurm_shim/records/paths.h"

#include <string>
#include <string_view>

namespace shim::commands::env {

// Makes J (0700) or takes it when it is this user's alone.
[[nodiscard]] Result<void> open_folder(const records::JobFolder& folder);
// Takes away everything that the hook itself writes; `environment` first.
void clear_folder(const records::JobFolder& folder);
// J/shim: the running binary.
[[nodiscard]] Result<void> link_shim(const records::JobFolder& folder, const std::string& binary);
// J/lock, empty, for the supervisor.
[[nodiscard]] Result<void> make_lock(const records::JobFolder& folder);
// Step counter and layout. `keep_counter`: one that is there stays.
[[nodiscard]] Result<void>
write_layout(const records::JobFolder& folder, const layout::Layout& layout, bool keep_counter);
// The environment, last of all, in place of a failure told before.
[[nodiscard]] Result<void> write_environment(const records::JobFolder& folder,
                                             std::string_view text);
// environment.failed with the reason on one line, and no environment.
[[nodiscard]] Result<void> write_failure(const records::JobFolder& folder, std::string_view reason);
// Removes J and what is in it.
[[nodiscard]] Result<void> remove_folder(const records::JobFolder& folder);

} // namespace shim::commands::env
