#pragma once
// The lines of squeue: the grammars of -o and -O, headers and rows with their widths. Pure.
// Spec commands 2.2, vectors/07 sq.o*, sq.O*.

#include "fields.h"
#include "steps.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shim::commands::squeue {

struct Column {
  std::string before;              // text in front of the value
  const Field* field = nullptr;    // of jobs; neither: text only
  const StepField* step = nullptr; // of steps
  std::size_t width = 0;           // 0: as long as the value
  bool right = false;              // `.`
  std::string after;               // text behind it
};

enum class Rows { jobs, steps };

struct Format {
  std::vector<Column> columns;
  std::vector<std::string> errors; // lines for stderr, one for each unknown letter or name
  [[nodiscard]] bool needs_facts() const;
};

// -o. Runs of % count as one, as in Slurm: `%%i` is `%i`. An unknown letter is printed as it is.
[[nodiscard]] Format parse_format(std::string_view text, Rows rows = Rows::jobs);
// -O: NAME[:[.][WIDTH][SUFFIX]], separated by commas; without all of that 20 characters, with a
// suffix alone as long as the value. Unknown names are left out.
[[nodiscard]] Format parse_long_format(std::string_view text, Rows rows = Rows::jobs);

inline constexpr std::string_view k_default_format = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R";
inline constexpr std::string_view k_long_format = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R";
inline constexpr std::string_view k_start_format = "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R";
inline constexpr std::string_view k_step_format = "%.15i %.8j %.9P %.8u %.9M %N";

// Whole lines, with line feed, at the end of `out`.
void append_header(const Format& format, std::string& out);
void append_line(const Format& format,
                 const queue::Job& job,
                 const Setting& setting,
                 std::string& out);
void append_line(const Format& format,
                 const queue::Step& step,
                 const Setting& setting,
                 std::string& out);

} // namespace shim::commands::squeue
