#pragma once
// What is done to the jobs that were chosen: qdel in batches, or requests to their supervisors.
// Refusals are told in Slurm's words, each for its job. Decisions 7a, 22b, 25b.

#include "request.h"

#include "slurm_shim/context/context.h"
#include "slurm_shim/ge/tools.h"
#include "slurm_shim/records/paths.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace shim::commands::scancel {

struct Engine {
  context::Context& ctx;
  const ge::Tools& tools;
  std::optional<records::StatePaths> state; // nothing: no mailbox can be reached
  std::string self{};                       // who asks
};

// One line of qdel's answer (it tells refusals on stdout, too). Pure.
enum class Answer { done, gone, denied, other };
[[nodiscard]] Answer classify_qdel(std::string_view line);

// The number in a line of qdel's answer: of a job, or of a task as "7.3". "" when there is none.
[[nodiscard]] std::string named_in(std::string_view line);

// A job's number, or its tasks by themselves and in runs: "7", "7.3", "7.5-8". Pure.
[[nodiscard]] std::vector<std::string> engine_targets(std::uint64_t job,
                                                      const std::set<std::uint32_t>& tasks);

// Ends the jobs or tasks named as engine_targets() names them and keeps a note of those that
// are to end. The exit code.
[[nodiscard]] int
end_jobs(const Engine& engine, const Request& request, const std::vector<std::string>& names);
// Delivers the signal to one job (or one of its steps); never ends the job by the engine.
[[nodiscard]] int signal_job(const Engine& engine,
                             const Request& request,
                             const queue::Job& job,
                             const std::string& step);

} // namespace shim::commands::scancel
