#pragma once
// Texts that are written as numbers are, so that they can become one and come back. Pure.

#include "slurm_shim/base/strings.h"

namespace shim {

// The number of a text that is how a decimal number from 0 on is written: no sign, no leading zero.
[[nodiscard]] inline std::optional<int> plain_number(std::string_view text) {
  const bool plain = is_digits(text) && (text.size() == 1 || text.front() != '0');
  return plain ? parse_int<int>(text) : std::nullopt;
}

} // namespace shim
