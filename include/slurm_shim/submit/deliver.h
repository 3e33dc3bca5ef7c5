#pragma once
// Carrying a Submission out: the files of the state folder, the qsub call, the .submit file; what
// was written is removed again when the engine refuses. Spec job-files 1-3, 6, 8;
// sbatch-translate 12.

#include "slurm_shim/context/context.h"
#include "slurm_shim/ge/interactive.h"
#include "slurm_shim/records/paths.h"
#include "slurm_shim/submit/request.h"
#include "slurm_shim/submit/script.h"
#include "slurm_shim/submit/translate.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace shim::submit {

struct Delivery {
  const context::Context& ctx;
  const records::StatePaths& state;
  const Situation& situation;
  const Request& request;
  const Script& script;
  const std::vector<std::string>& words; // sbatch's own, for the .submit file
};

// The engine's job number. Warnings go to `submission.warnings`. Errors carry complete lines.
[[nodiscard]] Result<std::int64_t> deliver(const Delivery& delivery, Submission& submission);

// --test-only: the engine is asked, nothing is submitted; the line that Slurm prints.
[[nodiscard]] Result<std::string> try_only(const Delivery& delivery, Submission& submission);

// A job of qrsh, for salloc and srun outside of a job: its files and the call. What is not accepted
// is removed again.
class InteractiveJob {
public:
  // `delivery` and `submission` must outlive this. `request.command` is what qrsh starts; the job's
  // own command is in the record. Errors carry complete lines.
  [[nodiscard]] static Result<InteractiveJob>
  prepare(const Delivery& delivery, Submission& submission, const ge::InteractiveRequest& request);
  InteractiveJob(InteractiveJob&& other) noexcept;
  InteractiveJob& operator=(InteractiveJob&&) = delete;
  InteractiveJob(const InteractiveJob&) = delete;
  InteractiveJob& operator=(const InteractiveJob&) = delete;
  ~InteractiveJob(); // withdraws what was not accepted

  [[nodiscard]] const std::vector<std::string>& args() const;
  [[nodiscard]] std::vector<std::string> environment() const; // qrsh's own, whole
  // The engine has it: the files stay, .submit is written.
  void accepted(std::int64_t job);
  // The job will never start: its files are removed.
  void withdraw();
  // What qrsh said instead of starting it, in Slurm's words.
  [[nodiscard]] tl::unexpected<Error> refused(std::string_view said) const;

private:
  struct State;
  explicit InteractiveJob(std::unique_ptr<State> state);
  std::unique_ptr<State> m_state;
};

} // namespace shim::submit
