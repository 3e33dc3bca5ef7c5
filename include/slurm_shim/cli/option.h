#pragma once
// One option = one row; the same rows feed parsing, --help, completion, man text and
// docs/compatibility.md. Slurm's dialect (getopt_long: abbreviations, clusters, attached optional
// values, stop at the first positional word) in cli/parse.h. Pure. docs/architecture.md section 3.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace shim::cli {

enum class Arity : std::uint8_t { none, required, optional };

// What the shim does with it. `accepted` = known, has no effect here, silently fine;
// `later` = accepted with the one honest warning in `note`; `rejected` = an error by design.
enum class Support : std::uint8_t { full, approximate, accepted, later, rejected };

struct Option {
  std::string_view name; // long name without dashes; unique in its table
  char letter = 0;       // short form; 0 = none
  Arity arity = Arity::none;
  std::string_view metavar{}; // "n", "path"; "" for Arity::none
  Support support = Support::full;
  std::string_view env{};      // input variable(s), comma-separated: "SBATCH_PARTITION"
  std::string_view maps_to{};  // what it becomes: "qsub -q", "" = nothing
  std::string_view help{};     // one line
  std::string_view note{};     // limits; also the text of the warning
  bool hidden = false;         // parses, not shown in --help
  std::string_view alias_of{}; // another spelling of that row: Given::option is the row meant
};

using OptionTable = std::span<const Option>;

} // namespace shim::cli
