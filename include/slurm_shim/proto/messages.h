#pragma once
// Payloads of the frames that end a rank, RANK_EXIT and RANK_FAIL, and of WINDOW_SIZE. Pure. Spec
// protocol 2 and 5.

#include "slurm_shim/base/result.h"
#include "slurm_shim/posix/terminal.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shim::proto {

inline constexpr std::size_t k_max_reason = 4096;

// i32 exit code (128 + n for death by signal n), then i32 raw wait status, which tells `exit 137`
// from a KILL and whether there is a core file.
struct RankExit {
  int code = 0;
  int wait_status = 0; // as waitpid gives it
};
[[nodiscard]] std::string encode_rank_exit(const RankExit& exit);
// Without the status, one is made up from the code (a plain exit). nullopt: shorter than 4 bytes.
[[nodiscard]] std::optional<RankExit> decode_rank_exit(std::string_view payload);

// i32 exit code (2 program not found, 13 not executable, else 1), then the reason: what srun shows
// behind "slurmstepd-<host>: error: ", for example "execve(): nosuch: No such file or directory".
struct RankFail {
  int code = 1;
  std::string reason;
};
[[nodiscard]] std::string encode_rank_fail(const RankFail& fail); // cuts the reason to 4 KiB
[[nodiscard]] std::optional<RankFail> decode_rank_fail(std::string_view payload);

// Four u16: rows, columns, and both in pixels.
[[nodiscard]] std::string encode_window_size(const posix::WindowSize& size);
[[nodiscard]] std::optional<posix::WindowSize> decode_window_size(std::string_view payload);

} // namespace shim::proto
