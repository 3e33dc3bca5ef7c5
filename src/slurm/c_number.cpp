#include "c_number.h"

#include "slurm_shim/base/strings.h"

#include <limits>

namespace shim::slurm {

std::optional<long> take_c_number(std::string_view& text) {
  auto rest = text;
  while (!rest.empty() && (rest.front() == ' ' || (rest.front() >= '\t' && rest.front() <= '\r')))
    rest.remove_prefix(1);
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest.empty() || !is_digit(rest.front())) return std::nullopt;
  constexpr long k_top = std::numeric_limits<long>::max();
  long value = 0;
  for (; !rest.empty() && is_digit(rest.front()); rest.remove_prefix(1)) {
    const long digit = rest.front() - '0';
    value = value > (k_top - digit) / 10 ? k_top : value * 10 + digit;
  }
  text = rest;
  return negative ? -value : value;
}

std::optional<long> take_digits(std::string_view& text, std::size_t max_digits) {
  std::size_t count = 0;
  long value = 0;
  while (count < text.size() && count < max_digits && is_digit(text[count]))
    value = value * 10 + (text[count++] - '0');
  if (count == 0) return std::nullopt;
  text.remove_prefix(count);
  return value;
}

} // namespace shim::slurm
