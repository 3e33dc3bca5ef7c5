#pragma once
// srun outside of any job: a job of its own for the step (configuration `standalone`), or the
// pseudo terminal of an interactive one. The step itself runs inside, by an srun with the options
// that concern steps. Decision 16, spec launch 7.

#include "allocation.h"

#include "slurm_shim/cli/parse.h"
#include "slurm_shim/context/context.h"

#include <string>
#include <vector>

namespace shim::commands::srun {

// Nothing of a job around, and the configuration says to ask for one.
[[nodiscard]] bool
allocates(const context::Context& ctx, const cli::Parsed& parsed, LayoutHere& here);

// The options of a step alone: those of the job have been the job's.
[[nodiscard]] cli::Parsed without_job_options(const cli::Parsed& parsed);
// As words of a command line.
[[nodiscard]] std::vector<std::string> words_of(const cli::Parsed& parsed);

// `step`: without_job_options(parsed), found valid for a step. `words`: the whole command line.
[[nodiscard]] int run_outside(context::Context& ctx,
                              const cli::Parsed& parsed,
                              const cli::Parsed& step,
                              const std::vector<std::string>& words);

} // namespace shim::commands::srun
