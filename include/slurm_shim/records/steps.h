#pragma once
// The registry of running steps in J/steps, the supervisor's lock J/lock and the preflight answer
// J/preflight. A step's file is locked as long as its srun lives, so that a lock that can be had
// means: gone. srun registers, batch-exec appends requests, both enumerate. Spec job-files 1 and 7.

#include "slurm_shim/base/result.h"
#include "slurm_shim/posix/fd.h"
#include "slurm_shim/records/paths.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::records {

struct RunningStep {
  int step = 0;
  std::int64_t pid = 0; // srun's
  std::int64_t start_ms = 0;
  std::string name;
  std::vector<std::string> hosts; // names as in the layout
  int ntasks = 0;
  std::vector<int> cpus; // slots that the step holds, parallel to hosts; 0 for a step that overlaps
  int parent = -1;       // the step in a task of which srun was started; -1 = the script
  std::vector<std::vector<std::string>> gpus{}; // device ids that it holds, parallel to hosts
};

struct StepRequest {
  enum class Kind { signal, end } kind = Kind::signal;
  int signal = 0; // 1..64
};

// srun's own entry: made before the first spawn, gone with the object.
class StepRegistration {
public:
  [[nodiscard]] static Result<StepRegistration> create(const JobFolder& folder,
                                                       const RunningStep& step);
  StepRegistration(StepRegistration&& other) noexcept = default;
  StepRegistration& operator=(StepRegistration&&) = delete;
  StepRegistration(const StepRegistration&) = delete;
  StepRegistration& operator=(const StepRegistration&) = delete;
  ~StepRegistration(); // unlinks both files

  // Requests since the last call; lines that do not parse are left out. For every 250 ms.
  [[nodiscard]] std::vector<StepRequest> poll();

private:
  StepRegistration(posix::Fd lock, std::string file, std::string request_file)
      : m_lock(std::move(lock)), m_file(std::move(file)), m_request_file(std::move(request_file)) {}
  posix::Fd m_lock;
  posix::Fd m_requests; // none before the first request
  std::int64_t m_offset = 0;
  std::string m_file, m_request_file;
};

// Steps whose srun is alive, by number; files of dead ones are unlinked.
[[nodiscard]] std::vector<RunningStep> list_running_steps(const JobFolder& folder);
// Host name to the slots that running steps hold there. The steps around the caller, beginning with
// `parent` (-1 = none), do not count: their tasks wait for it.
[[nodiscard]] std::map<std::string, int> slots_in_use(const std::vector<RunningStep>& steps,
                                                      int parent);
// The same for devices: host name to ids.
[[nodiscard]] std::map<std::string, std::vector<std::string>>
devices_in_use(const std::vector<RunningStep>& steps, int parent);
// Held while a step looks for room and registers, so that two of them never take the same slots.
// Waits for its turn.
[[nodiscard]] Result<posix::Fd> take_claim_lock(const JobFolder& folder);
// Another running step that lists the host (decision 12's classification).
[[nodiscard]] std::optional<RunningStep>
find_step_on_host(const JobFolder& folder, std::string_view host, int own_step);

// Appends to a running step's request file, which the first request makes. not_found when the step
// is not registered.
[[nodiscard]] Result<void>
post_step_request(const JobFolder& folder, int step, const StepRequest& request);

// J/lock for the supervisor's life, close-on-exec. refused when another one holds it.
[[nodiscard]] Result<posix::Fd> take_supervisor_lock(const JobFolder& folder);
// True when there is a lock file and nobody holds it: the supervisor was killed.
[[nodiscard]] bool supervisor_is_gone(const JobFolder& folder);

// `TRUE`, `FALSE` or `unknown <reason>`; nothing when nobody asked yet.
[[nodiscard]] std::optional<std::string> read_preflight(const JobFolder& folder);
[[nodiscard]] Result<void> write_preflight(const JobFolder& folder, std::string_view answer);

} // namespace shim::records
