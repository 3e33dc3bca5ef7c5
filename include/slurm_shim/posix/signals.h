#pragma once
// Dispositions, masks and signalfd, for processes that have one loop and no handlers.

#include "slurm_shim/base/result.h"
#include "slurm_shim/posix/fd.h"

#include <initializer_list>

#include <sys/types.h>

namespace shim::posix {

// Every disposition to default and nothing blocked, as a program expects to be started.
// Async-signal-safe.
void reset_signals();
void ignore_signals(std::initializer_list<int> numbers);
// As `nohup` and the `&` of a script leave some signals: they should stay so.
[[nodiscard]] bool is_ignored(int number);
// Blocks the signals and returns a non-blocking descriptor that is readable when one is pending.
[[nodiscard]] Result<Fd> block_into_signalfd(std::initializer_list<int> numbers);
// The next signal of such a descriptor, 0 when none is pending.
[[nodiscard]] int take_signal(int signal_fd);
// The same, passing over what this process has raised itself (PIPE by a write).
[[nodiscard]] int take_foreign_signal(int signal_fd);

// A descriptor that is readable when the process has ended; for a child, until it is reaped.
// unavailable where the kernel has no pidfd (< 5.3): wait for SIGCHLD there.
[[nodiscard]] Result<Fd> open_pidfd(pid_t pid);

} // namespace shim::posix
