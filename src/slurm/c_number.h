#pragma once
// Numbers as C's strtol takes them, which Slurm's grammars show: blanks in front, a sign, then
// digits; the rest is the caller's.

#include <optional>
#include <string_view>

namespace shim::slurm {

// The number at the start of `text`, saturating; `text` keeps the rest. Nothing (and `text`
// unchanged) when there is no digit.
[[nodiscard]] std::optional<long> take_c_number(std::string_view& text);
// Digits only, no blanks, no sign; at most `max_digits` of them.
[[nodiscard]] std::optional<long> take_digits(std::string_view& text, std::size_t max_digits = 18);

} // namespace shim::slurm
