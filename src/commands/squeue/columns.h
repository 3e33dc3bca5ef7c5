#pragma once
// The columns of squeue's -o: the grammar of the format, the letters with their headers and values,
// and one line of output. Pure. Spec commands 2.2, vectors/07 sq.o*, sq.ow*.

#include "slurm_shim/queue/queue.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shim::commands::squeue {

struct Column {
  std::string before;    // text in front of the first column
  char letter = 0;       // 0: text only
  std::size_t width = 0; // 0: as long as the value
  bool right = false;    // `.`
  std::string after;     // text up to the next %
};

struct Format {
  std::vector<Column> columns;
  std::vector<std::string> errors; // lines for stderr, one for each unknown letter
  [[nodiscard]] bool uses(std::string_view letters) const;
};

// Runs of % count as one, as in Slurm: `%%i` is `%i`. An unknown letter is printed as it is.
[[nodiscard]] Format parse_format(std::string_view text);

inline constexpr std::string_view k_default_format = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R";
inline constexpr std::string_view k_long_format = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R";

[[nodiscard]] std::string header_line(const Format& format); // with line feed
[[nodiscard]] std::string job_line(const Format& format, const queue::Job& job, std::int64_t now);

} // namespace shim::commands::squeue
