#pragma once
// From ids that users write to what the engine's tools take ("4711", "4711.3"), and requests to a
// job's own supervisor. Callers: scancel, scontrol. Decisions 18a, 22b, E2.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/base/result.h"
#include "slurm_shim/posix/clock.h"
#include "slurm_shim/queue/queue.h"
#include "slurm_shim/records/paths.h"
#include "slurm_shim/slurm/job_id.h"

#include <string>
#include <string_view>
#include <vector>

namespace shim::queue {

// -M: there is one cluster; its name and "all" are fine, anything else is an error.
[[nodiscard]] Result<void> check_clusters(std::string_view names, const EnvList& env);

// A list of ids as one word may hold it: "7,8_3,9_[1-2]" is three; commas in brackets stay.
[[nodiscard]] std::vector<std::string> split_ids(std::string_view word);

// The engine's names of what a job line stands for: the job, or its tasks as "7.3".
[[nodiscard]] std::vector<std::string> engine_names(const Job& job);
// The key of the record folder; the first task of an array's line.
[[nodiscard]] records::JobKey record_key(const Job& job);

// Asks the supervisor of a running job and waits for its answer. Error: refused by it, or by the
// owner check ("access"); not_found without a supervisor; unavailable without an answer.
[[nodiscard]] Result<void> ask_supervisor(const records::StatePaths& state,
                                          const records::JobKey& key,
                                          std::string_view verb,
                                          const std::vector<std::string>& args,
                                          posix::Clock& clock);

} // namespace shim::queue
