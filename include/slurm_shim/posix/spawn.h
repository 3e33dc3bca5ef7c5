#pragma once
// Process creation: the only place, besides the rank-exec trampoline, where a program is started
// with attributes (group, parent-death signal, descriptors, affinity, directory). vfork-like: the
// caller sleeps until the child has executed its program or failed, so that a failure is the
// return value, with stage and errno. The child gets default signal dispositions, an empty mask
// and no descriptor above 2. Spec stepper 2-3, design engine 3.

#include "slurm_shim/posix/fd.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/types.h>

namespace shim::posix {

enum class ProcessGroup {
  inherit, // the caller's group
  own,     // a new group, the child is its leader
  session, // a new session
};

inline constexpr int k_keep_fd = -1; // the child inherits the caller's descriptor
inline constexpr int k_null_fd = -2; // the child gets /dev/null

struct OpenFileLimit {
  rlim_t soft = 0;
  rlim_t hard = 0;
};

struct SpawnRequest {
  std::vector<std::string> argv; // argv[0] is what the program sees as its name
  // What is executed: a path, or a name that is looked up in the PATH of `env`. Empty: argv[0].
  std::string program;
  std::vector<std::string> env; // NAME=VALUE; nothing is inherited
  int stdin_fd = k_keep_fd;     // any descriptors of the caller's, also 0-2 in another order
  int stdout_fd = k_keep_fd;
  int stderr_fd = k_keep_fd;
  ProcessGroup group = ProcessGroup::inherit;
  bool controlling_terminal = false; // stdin becomes that of the new session
  // Tied to the calling *thread*: the child gets it when that thread ends. 0: none.
  int parent_death_signal = 0;
  std::string chdir; // before the program is looked up; empty: the caller's directory
  // A failure to set it is no failure of the spawn: the child writes affinity_warning, the reason
  // and a line feed to its stderr and goes on.
  std::vector<int> cpus;
  std::string affinity_warning;
  std::optional<OpenFileLimit> open_files; // RLIMIT_NOFILE of the child
  std::string pid_variable; // environment variable that holds the child's pid; empty: none
  bool want_pidfd = false;  // Process::pidfd; invalid where the kernel has none (< 5.3)
};

struct Process {
  pid_t pid = -1;
  Fd pidfd; // readable when the process has ended
};

struct SpawnError {
  enum class Stage { fork, descriptors, chdir, exec, orphaned };
  Stage stage = Stage::fork;
  int error_number = 0;
  // "chdir /x: No such file or directory", "prog: Permission denied"
  [[nodiscard]] std::string message() const;
  std::string subject; // directory or program as typed
};

[[nodiscard]] tl::expected<Process, SpawnError> spawn(const SpawnRequest& request);

// The candidates that spawn() tries for `program`: itself when it has a slash, else one per entry
// of PATH in `env` (an empty entry is the current directory; no PATH: none, as in Slurm).
[[nodiscard]] std::vector<std::string> program_candidates(const std::string& program,
                                                          const std::vector<std::string>& env);

// A copy of this process that runs on in our own code (guardian, canary, record guardian): 0 in
// the child. For one-threaded processes only.
[[nodiscard]] Result<pid_t> fork_process();

// A child that shares this process's memory and runs `body` on `stack` (which must live as long as
// the child): cheap, since nothing is copied. `body` must not return and may make system calls
// only. Both sides run at once, unlike in spawn().
[[nodiscard]] Result<pid_t>
start_thin_process(int (*body)(void*), void* argument, std::span<std::byte> stack);

} // namespace shim::posix
