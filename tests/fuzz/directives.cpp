// The directive lines of a batch script, as words, and as options of sbatch.
#include "fuzz.h"
#include "lexer.h"

#include "slurm_shim/cli/parse.h"
#include "slurm_shim/commands/sbatch.h"
#include "slurm_shim/submit/script.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace shim;

void fuzz(std::string_view bytes) {
  const auto lines = static_cast<int>(std::count(bytes.begin(), bytes.end(), '\n')) + 1;
  for (const auto* marker : {"#SBATCH", "#BSUB", "#PBS"}) {
    for (const auto line : commands::sbatch::late_directives(bytes, marker))
      SHIM_ASSERT(line >= 1 && line <= lines);
    const auto found = commands::sbatch::read_directives(bytes, marker, "job.sh");
    if (!found) continue;
    std::vector<std::string> words;
    for (const auto& word : *found) {
      SHIM_ASSERT(word.line >= 1 && word.line <= lines);
      words.push_back(word.text);
    }
    const auto table = commands::sbatch_options();
    const auto parsed =
        cli::parse(table, words, {.command = "sbatch", .tolerate_unknown_long = true});
    if (!parsed) continue;
    for (const auto& given : parsed->given)
      SHIM_ASSERT(given.word < words.size() &&
                  (given.option->arity != cli::Arity::none || !given.value));
  }
  (void)submit::shell_for_queue(bytes);
}
