#pragma once
// Option tables as they lie in the binary. A constexpr array of Option is full of pointers, which
// the start of a static-pie program has to relocate, page by page, in every process and for every
// command's table. Here the compiler packs a table into plain numbers and one text; the rows are
// made from it when a command asks for its own.

#include "slurm_shim/cli/option.h"

#include <array>
#include <cstddef>
#include <limits>

namespace shim::cli {

inline constexpr std::size_t k_option_texts = 7;

constexpr std::array<std::string_view, k_option_texts> texts_of(const Option& row) {
  return {row.name, row.metavar, row.env, row.maps_to, row.help, row.note, row.alias_of};
}

struct PackedOption {
  std::array<std::uint16_t, k_option_texts> lengths{};
  char letter = 0;
  Arity arity = Arity::none;
  Support support = Support::full;
  bool hidden = false;
};

template <std::size_t Rows, std::size_t TextBytes> struct PackedOptions {
  std::array<PackedOption, Rows> rows{};
  std::array<char, TextBytes> text{}; // all texts in order, one behind the other
};

template <const auto& Table> consteval std::size_t text_bytes_of() {
  std::size_t total = 0;
  for (const Option& row : Table)
    for (const auto text : texts_of(row))
      total += text.size();
  return total;
}

template <const auto& Table> consteval auto pack_options() {
  PackedOptions<std::size(Table), text_bytes_of<Table>()> packed;
  std::size_t at = 0;
  for (std::size_t i = 0; i < std::size(Table); ++i) {
    const Option& row = Table[i];
    auto& out = packed.rows[i];
    out.letter = row.letter;
    out.arity = row.arity;
    out.support = row.support;
    out.hidden = row.hidden;
    const auto texts = texts_of(row);
    for (std::size_t t = 0; t < k_option_texts; ++t) {
      if (texts[t].size() > std::numeric_limits<std::uint16_t>::max()) throw "text too long";
      out.lengths[t] = static_cast<std::uint16_t>(texts[t].size());
      for (const char byte : texts[t])
        packed.text[at++] = byte;
    }
  }
  return packed;
}

// `rows` and `packed` have the same number of entries.
void unpack_options(std::span<const PackedOption> packed, const char* text, std::span<Option> rows);

// The rows of a constexpr table of static storage; for the command's own options() function.
template <const auto& Table> OptionTable unpacked_options() {
  static constexpr auto k_packed = pack_options<Table>();
  static const auto rows = [] {
    std::array<Option, std::size(Table)> out;
    unpack_options(k_packed.rows, k_packed.text.data(), out);
    return out;
  }();
  return rows;
}

} // namespace shim::cli
