#pragma once
// What the verbs that change jobs share: finding the jobs that a user named, running one of the
// engine's tools, and Slurm's way to tell why it did not work.

#include "scontrol.h"
#include "session.h"

#include <optional>
#include <string>
#include <vector>

namespace shim::commands::scontrol {

inline constexpr std::string_view k_invalid_id = "Invalid job id specified";
inline constexpr std::string_view k_denied = "Access/permission denied";
inline constexpr std::string_view k_disabled = "Requested operation is presently disabled";

struct Failure {
  std::string text;        // Slurm's words
  bool second_line = true; // hold and release add "slurm_suspend error: <text>"
};

int tell_failure(const context::Context& ctx,
                 const Settings& settings,
                 std::string_view id,
                 const Failure& failure);

// The lines of a job that a user named. Unknown: an empty list.
[[nodiscard]] Result<std::vector<queue::Job>> find_jobs(const Session& session,
                                                        const slurm::JobRef& ref);
// Those of them (nothing: of all) that have ended lately and are not among `queued`: Slurm knows a
// job for a while after its end.
[[nodiscard]] Result<std::vector<queue::Job>>
ended_jobs(context::Context& ctx,
           const Session& session,
           const std::optional<slurm::JobRef>& ref,
           const std::vector<queue::Job>& queued = {});
// "7,8.3": what qhold, qmod and their like take.
[[nodiscard]] std::string names_of(const std::vector<queue::Job>& jobs);

// Nothing: done. `foreign`: Slurm's words for somebody else's job. The tools tell refusals on
// stdout, success too; what is no confirmation decides.
[[nodiscard]] Result<std::optional<Failure>> run_tool(const Session& session,
                                                      const std::string& tool,
                                                      std::vector<std::string> args,
                                                      std::string_view foreign);

using Action = Result<std::optional<Failure>> (*)(context::Context&,
                                                  const Session&,
                                                  const std::vector<queue::Job>&);
// `unknown`: Slurm's words for an id that nobody has. With `second_line` (hold, release) a job that
// has ended lately is told apart from them.
int for_each_id(context::Context& ctx,
                const Settings& settings,
                Words words,
                bool second_line,
                Action action,
                std::string_view unknown = k_invalid_id);
int need_id(const context::Context& ctx, const Settings& settings, std::string_view verb);

} // namespace shim::commands::scontrol
