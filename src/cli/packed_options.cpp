#include "slurm_shim/cli/packed_options.h"

namespace shim::cli {

void unpack_options(std::span<const PackedOption> packed,
                    const char* text,
                    std::span<Option> rows) {
  for (std::size_t i = 0; i < packed.size(); ++i) {
    const auto& in = packed[i];
    auto& row = rows[i];
    row.letter = in.letter;
    row.arity = in.arity;
    row.support = in.support;
    row.hidden = in.hidden;
    std::string_view* const targets[k_option_texts] = {
        &row.name, &row.metavar, &row.env, &row.maps_to, &row.help, &row.note, &row.alias_of};
    for (std::size_t t = 0; t < k_option_texts; ++t) {
      *targets[t] = {text, in.lengths[t]};
      text += in.lengths[t];
    }
  }
}

} // namespace shim::cli
