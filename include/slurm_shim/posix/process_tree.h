#pragma once
// The processes below one of ours, and their end: KILL, reap, again, until nothing is left. For
// subreapers, to which also the children of ended ranks come (setsid, double fork). Decision E1.

#include <chrono>
#include <functional>
#include <vector>

#include <sys/types.h>

namespace shim::posix {

[[nodiscard]] bool become_subreaper();

// Direct children of a process: /proc/<pid>/task/*/children, or all of /proc where the kernel does
// not have that file.
[[nodiscard]] std::vector<pid_t> children_of(pid_t pid);
// Children, their children, and so on; parents before children.
[[nodiscard]] std::vector<pid_t> descendants_of(pid_t pid);

// Without those for which `pruned` holds, and what is below them.
[[nodiscard]] std::vector<pid_t> descendants_of(pid_t pid,
                                                const std::function<bool(pid_t)>& pruned);

// Signals every descendant of the calling process but `except` (0: none) and those for which
// `spared` holds. Tells how many.
int signal_descendants(int number, pid_t except, const std::function<bool(pid_t)>& spared = {});

// Kills and reaps every descendant, round after round, until none is left. `on_reaped` gets each
// child's pid and wait status. False: something is left that may not be killed (another user's) or
// did not die within 10 s (uninterruptible sleep). Those for which `spared` holds are not
// killed, and waited for all the same.
bool sweep_descendants(const std::function<void(pid_t, int)>& on_reaped,
                       const std::function<bool(pid_t)>& spared = {});

} // namespace shim::posix
