#pragma once
// The order of squeue's lines: -S and its default. Pure. vectors/07 sq.S*.

#include "slurm_shim/queue/queue.h"

#include <string_view>
#include <vector>

namespace shim::commands::squeue {

inline constexpr std::string_view k_default_sort = "P,t,-p";
inline constexpr std::string_view k_start_sort = "S";

// `text`: letters of -o with an optional + or -, separated by commas; the first counts most.
// Letters without an order are passed over. Pointers into `jobs`, which are not moved.
[[nodiscard]] std::vector<const queue::Job*> sorted(const std::vector<queue::Job>& jobs,
                                                    std::string_view text);

} // namespace shim::commands::squeue
