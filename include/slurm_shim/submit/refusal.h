#pragma once
// How a request is refused. Errors of this module carry the complete text for stderr, every line
// with Slurm's prefix, without the last line feed; the command prints them as they are. Other
// modules' errors are wrapped by refuse().

#include "slurm_shim/base/result.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <string>
#include <string_view>

namespace shim::submit {

// What Slurm says last of any list of --gres it cannot grant.
inline constexpr std::string_view k_bad_gres = "Invalid generic resource (gres) specification";

// "sbatch: error: <line>" for every line of `text`.
[[nodiscard]] tl::unexpected<Error> refuse(std::string_view text,
                                           int exit_code = slurm::k_exit_failure);
// "sbatch: error: Batch job submission failed: <reason>", exit 1; what the controller would say.
[[nodiscard]] tl::unexpected<Error> refuse_submission(std::string_view reason);
// "sbatch: fatal: <text>", exit 1.
[[nodiscard]] tl::unexpected<Error> refuse_fatally(std::string_view text);

} // namespace shim::submit
