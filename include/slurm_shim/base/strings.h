#pragma once
// Small string work that std lacks: splitting, trimming, whole-range number parsing. ASCII only,
// no locale. Everything here is pure.

#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim {

[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
// Splits at runs of blanks and tabs; no empty words.
[[nodiscard]] std::vector<std::string_view> split_words(std::string_view text);
[[nodiscard]] std::string_view trim(std::string_view text);
[[nodiscard]] std::string to_lower(std::string_view text);
[[nodiscard]] std::string to_upper(std::string_view text);
[[nodiscard]] bool equals_ignore_case(std::string_view a, std::string_view b);
// 0-9, whatever the locale.
[[nodiscard]] constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
[[nodiscard]] bool is_digits(std::string_view text); // non-empty, 0-9 only

template <class Range> [[nodiscard]] std::string join(const Range& items, std::string_view glue) {
  std::string out;
  bool first = true;
  for (const auto& item : items) {
    if (!first) out += glue;
    first = false;
    out += item;
  }
  return out;
}

// The whole text as a decimal number (leading '-' for signed types), or nothing: no blanks, no
// '+', no rest, no overflow.
template <std::integral T> [[nodiscard]] std::optional<T> parse_int(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// %XX (upper case) for every byte outside [A-Za-z0-9] and `also_safe`.
[[nodiscard]] std::string percent_encode(std::string_view bytes, std::string_view also_safe);
// nullopt on a '%' that two hex digits do not follow.
[[nodiscard]] std::optional<std::string> percent_decode(std::string_view text);

[[nodiscard]] bool is_valid_utf8(std::string_view bytes);
// Invalid sequences become U+FFFD.
[[nodiscard]] std::string sanitize_utf8(std::string_view bytes);

} // namespace shim
