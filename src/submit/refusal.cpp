#include "slurm_shim/submit/refusal.h"

#include "slurm_shim/base/strings.h"

namespace shim::submit {

tl::unexpected<Error> refuse(std::string_view text, int exit_code) {
  std::string message;
  for (const auto line : split(text, '\n')) {
    if (!message.empty()) message += '\n';
    message += "sbatch: error: " + std::string(line);
  }
  return fail(ErrorKind::usage, std::move(message), exit_code);
}

tl::unexpected<Error> refuse_submission(std::string_view reason) {
  return refuse("Batch job submission failed: " + std::string(reason));
}

tl::unexpected<Error> refuse_fatally(std::string_view text) {
  return fail(ErrorKind::usage, "sbatch: fatal: " + std::string(text), slurm::k_exit_failure);
}

} // namespace shim::submit
