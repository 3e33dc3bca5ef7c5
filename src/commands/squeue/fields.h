#pragma once
// What can be a column of squeue's list of jobs: -o letters and -O names, their headers and values.
// Pure. Spec commands 2.2, vectors/07 sq.o.*, sq.O.*.

#include "slurm_shim/queue/queue.h"
#include "slurm_shim/queue/shown.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace shim::commands::squeue {

// What values depend on beside the job.
struct Setting {
  std::int64_t now = 0;    // unix seconds
  std::string time_format; // SLURM_TIME_FORMAT
  std::string cluster;
  queue::ArrayWidth array_width{};
};

enum class Value : unsigned char;

struct Field {
  char letter;           // 0: -O only
  std::string_view name; // of -O; "": -o only
  std::string_view header;
  Value value;
  std::string_view text; // of values that are always the same
};

[[nodiscard]] const Field* find_field(char letter);
[[nodiscard]] const Field* find_field(std::string_view name); // any case
// Appends the value.
void append_value(const Field& field,
                  const queue::Job& job,
                  const Setting& setting,
                  std::string& out);
// Whether qstat's list lacks it for jobs of which nothing is recorded.
[[nodiscard]] bool needs_facts(const Field& field);
// Right-justified values (and headers) of these are not cut.
[[nodiscard]] bool keeps_whole_value(const Field& field);
[[nodiscard]] bool keeps_whole_header(const Field& field);

} // namespace shim::commands::squeue
