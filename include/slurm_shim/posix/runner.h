#pragma once
// Running a tool to its end and reading what it said. The seam that tests replace: commands get a
// Runner from the Context. A non-zero exit is data; not being able to start the tool, or a timeout,
// is an Error of kind unavailable (spec ge-commands 1).

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/base/result.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace shim::posix {

struct RunRequest {
  std::vector<std::string> argv; // argv[0] is executed; searched in PATH when it has no slash
  std::optional<EnvList> env;    // nothing: the environment of this process
  std::string input;             // stdin; empty: /dev/null
  std::chrono::milliseconds timeout{0}; // 0: none. Past it the child's process group is killed
  std::size_t output_limit = std::size_t{256} << 20; // per stream; more is an error
  std::string chdir;                                 // working directory of the child; empty: ours
};

struct Output {
  int status = 0; // exit code, or 128 + signal
  std::string out;
  std::string err;
};

class Runner {
public:
  Runner() = default;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  virtual ~Runner() = default;
  [[nodiscard]] virtual Result<Output> run(const RunRequest& request) = 0;
};

// The real one: posix_spawn in its own process group, both pipes read concurrently.
class ProcessRunner final : public Runner {
public:
  [[nodiscard]] Result<Output> run(const RunRequest& request) override;
};

} // namespace shim::posix
