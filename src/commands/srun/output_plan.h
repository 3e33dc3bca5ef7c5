#pragma once
// Where the output of each rank goes: a file the stepper opens by itself, a file that srun writes
// because ranks share it (or because lines are labelled), srun's own streams, or nowhere. Pure but
// for open_shared_files(). Decision 10, spec stepper 4, vectors 05.

#include "slurm_shim/base/result.h"
#include "slurm_shim/mux/output.h"
#include "slurm_shim/mux/pattern.h"
#include "slurm_shim/mux/writer.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace shim::commands::srun {

struct OutputRequest {
  std::string output, error; // as given: all, none, a task number, a pattern; "" = not given
  bool label = false;
  bool append = false;
  std::string cwd;   // srun's: where shared files are
  std::string chdir; // the tasks': where files of their own are
};

// "none" in any case, or /dev/null.
[[nodiscard]] bool is_nowhere(std::string_view word);

struct RankPlace {
  int rank = 0;
  int node_id = 0;
  std::string node_name;
};

struct Route {
  enum class Kind { stream, file, shared, discard } kind = Kind::stream;
  bool on_stdout = true; // stream: to srun's stdout, else its stderr
  std::string path;      // file and shared
};
using RankRoutes = std::array<Route, 2>; // by mux::Stream

[[nodiscard]] std::vector<RankRoutes> plan_output(const OutputRequest& request,
                                                  const mux::PatternFields& step,
                                                  const std::vector<RankPlace>& ranks);

// Opens every shared file once, before anything starts, and tells Output who writes where. Sinks 0
// and 1 are srun's stdout and stderr. Error: "Could not open stdout file: Is a directory".
[[nodiscard]] Result<void> open_shared_files(const std::vector<RankRoutes>& routes,
                                             bool append,
                                             mux::Writer& writer,
                                             mux::Output& output);

} // namespace shim::commands::srun
