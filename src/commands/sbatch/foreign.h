#pragma once
// #PBS and #BSUB lines, which Slurm reads too: turned into sbatch's own options. They beat #SBATCH
// lines, as there. Pure. Spec: vectors 04 `dir.pbs*`, `dir.bsub`.

#include "lexer.h"

#include <string>
#include <vector>

namespace shim::commands::sbatch {

struct ForeignOptions {
  std::vector<DirectiveWord> words;  // for sbatch's option parser
  std::vector<std::string> warnings; // what has no translation
};

[[nodiscard]] ForeignOptions translate_pbs(const std::vector<DirectiveWord>& words);
[[nodiscard]] ForeignOptions translate_bsub(const std::vector<DirectiveWord>& words);

} // namespace shim::commands::sbatch
