#pragma once
// The one thing that squeue asks qacct: when a job that qstat no longer lists has ended. Spec
// ge-commands 5.

#include "slurm_shim/base/result.h"
#include "slurm_shim/ge/tools.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace shim::ge {

// The latest end_time of the records in qacct's answer, unix seconds; nothing when there is none.
// All versions' forms of time: "Mon Nov 30 01:45:29 2026", "2026-11-30 01:45:29.699554",
// "11/30/2026 01:45:29.123".
[[nodiscard]] std::optional<std::int64_t> latest_end(std::string_view qacct_text);

// `qacct -j JOB`. Nothing: accounting does not know the job. Error (unavailable): could not ask.
[[nodiscard]] Result<std::optional<std::int64_t>> query_end(const Tools& tools, std::uint64_t job);

} // namespace shim::ge
