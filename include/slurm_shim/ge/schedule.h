#pragma once
// The scheduler's own plan: when jobs with a reservation are to start. Grid Engine writes it to
// <cell>/common/schedule where the scheduler's params hold MONITOR=1; without that file nothing is
// known. Owns the format; the parser is pure. Caller: queue. Spec commands 2.2 (--start).

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/ge/jobs.h"

#include <cstdint>
#include <map>
#include <string_view>

namespace shim::ge {

// Job and task number (1 for a job that is no array) -> unix seconds.
using ReservedStarts = std::map<TaskKey, std::int64_t>;

// Of the last whole run of the scheduler in the text.
[[nodiscard]] ReservedStarts parse_schedule(std::string_view text);
// The end of $SGE_ROOT/$SGE_CELL/common/schedule; empty where it cannot be read.
[[nodiscard]] ReservedStarts read_schedule(const EnvList& env);

} // namespace shim::ge
