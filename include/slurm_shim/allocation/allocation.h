#pragma once
// A job of one's own for one command, outside of any job: qrsh asks for it, waits and carries the
// streams; the command runs on the job's first host under the job's supervisor. Owns what the user
// sees meanwhile (Slurm's messages, vectors 12), signals and the exit code; leaves no job behind.
// Callers: salloc, srun. Decisions 16, E10.

#include "slurm_shim/cli/option.h"
#include "slurm_shim/cli/parse.h"
#include "slurm_shim/context/context.h"
#include "slurm_shim/submit/request.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::allocation {

// In whose words the same things are said.
struct Voice {
  std::string_view failure;   // before a refusal: "Job submit/allocate failed"
  bool announces = false;     // grant and end of the job are told
  bool reads_request = false; // an interrupt that comes twice within a second kills the steps
};
inline constexpr Voice k_salloc{"Job submit/allocate failed", true, false};
inline constexpr Voice k_srun{"Unable to allocate resources", false, true};

struct Wanted {
  submit::Request job;              // verified (submit::verify_request)
  std::vector<std::string> command; // on the first host, as it is
  std::vector<std::string> words;   // the caller's own, for the record of the submission
  bool pty = false;                 // the command gets a terminal; ours is its other end
  bool stdin_closed = false;
  bool bell = false;              // at the grant
  std::optional<int> immediate_s; // give up when not granted in that time; 1: at once or never
};

// Fills in `job`, verified, and `immediate_s`: from the input variables that the table names, then
// from the command line. Errors carry complete lines and the exit code.
[[nodiscard]] Result<void> read_values(const context::Context& ctx,
                                       cli::OptionTable table,
                                       const std::vector<cli::Given>& command_line,
                                       Wanted& wanted);

// The exit code: the command's, or 1 when there was no job to run it in.
[[nodiscard]] int run(context::Context& ctx, const Wanted& wanted, const Voice& voice);

// Texts of module submit speak for sbatch: the same for another command.
[[nodiscard]] std::string
reworded(std::string_view text, std::string_view command, std::string_view failure);

} // namespace shim::allocation
