#pragma once
// What the two ends of an interactive job agree on: salloc or srun here, the job's supervisor
// there.

#include <string_view>

namespace shim::records {

// The supervisor writes this to stdout just before it starts the command; the other end waits for
// it and takes it out. A terminal that got it would show nothing.
inline constexpr std::string_view k_begun_mark = "\x1b]slurm-shim;begun\x07";

// What qrsh's command says behind `batch-exec` when the job's command gets a terminal. Then stdin
// carries frames from the mark on: SPEC with what the user's terminal looks like, IN, WINDOW_SIZE.
inline constexpr std::string_view k_terminal_word = "terminal";

} // namespace shim::records
