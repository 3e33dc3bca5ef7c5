#pragma once
// What a command says about itself and about words it only half understands, all from its option
// table: --help, --usage and the warnings of decision 21. Pure: returns text, prints nothing.

#include "slurm_shim/base/result.h"
#include "slurm_shim/cli/option.h"
#include "slurm_shim/cli/parse.h"

#include <string>
#include <string_view>
#include <vector>

namespace shim::cli {

struct HelpFrame {
  std::string_view synopsis;    // "sbatch [OPTIONS...] SCRIPT [ARGS...]"
  std::string_view description; // lines before the options, no line feed at the end; may be ""
  std::string_view epilogue{};  // lines after them; may be ""
};

// --help: synopsis, description, one entry for each visible option (marks what is not supported
// yet), epilogue.
[[nodiscard]] std::string help_text(OptionTable table, const HelpFrame& frame);
// --usage: the synopsis with every visible option, folded at 80 columns.
[[nodiscard]] std::string usage_text(OptionTable table, const HelpFrame& frame);

// One line, without prefix, for each option that is accepted without effect (Support::later) and
// each ignored word; every option once, in order of appearance.
[[nodiscard]] std::vector<std::string> warnings_of(const Parsed& parsed);
// The first option that is rejected by design, as an error; with `strict` (config strict_flags)
// also what warnings_of() would tell about.
[[nodiscard]] Result<void> refuse_unsupported(const Parsed& parsed, bool strict);

} // namespace shim::cli
