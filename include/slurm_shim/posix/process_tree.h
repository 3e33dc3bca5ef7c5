#pragma once
// The processes below one of ours, and their end: KILL, reap, again, until nothing is left. For
// subreapers, to which also the children of ended ranks come (setsid, double fork). Decision E1.

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

// Signals every descendant of the calling process but `except` (0: none). Tells how many.
int signal_descendants(int number, pid_t except);

// Kills and reaps every descendant without ever sleeping between the rounds, so that a process that
// forks as fast as it can is outrun. `on_reaped` gets each child's pid and wait status. Ends when
// there is no child left, or only such that may not be killed (another user's).
void sweep_descendants(const std::function<void(pid_t, int)>& on_reaped);

} // namespace shim::posix
