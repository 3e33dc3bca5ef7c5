#pragma once
// What each rank reads: srun's standard input or a file that srun reads for all (IN frames), a file
// of its own that the stepper opens, or nothing. Pure but for open_input(). Decision 9, vectors 05.

#include "output_plan.h"

#include "slurm_shim/base/result.h"
#include "slurm_shim/mux/pattern.h"
#include "slurm_shim/posix/fd.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::commands::srun {

struct InputRequest {
  std::string word;  // as given: all, none, a task number, a pattern; "" = all
  std::string cwd;   // srun's: where a file for all is
  std::string chdir; // the tasks': where files of their own are
};

struct InputPlan {
  std::string path;               // "" = srun's own stdin
  std::vector<bool> streams_to;   // by rank: gets IN frames
  std::vector<std::string> files; // by rank: "" = none of its own
  [[nodiscard]] bool is_streamed() const;
  [[nodiscard]] std::optional<int> only_rank() const; // that is streamed to, when it is not all
};

// Whether `word` leaves srun's own stdin to some task.
[[nodiscard]] bool is_stdin_read(std::string_view word);

[[nodiscard]] InputPlan plan_input(const InputRequest& request,
                                   const mux::PatternFields& step,
                                   const std::vector<RankPlace>& ranks);

// The file that srun reads for all. Error: "Could not open stdin file: No such file or directory".
[[nodiscard]] Result<posix::Fd> open_input(const std::string& path);

} // namespace shim::commands::srun
