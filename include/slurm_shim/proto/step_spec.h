#pragma once
// StepSpec: everything a stepper needs to run its host's ranks, the payload of SPEC frames; and the
// routing envelope of the stepper's argv. Spec protocol 3, 4, 7.2, 7.3. JSON stays the payload
// format; strings that are not UTF-8 travel as {"b64": "..."}.

#include "slurm_shim/base/result.h"
#include "slurm_shim/posix/terminal.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::proto {

struct RankSpec {
  int rank = 0;    // global
  int local = 0;   // on this host
  int node_id = 0; // step node index
  // CPUs by their position among those that the host lets the stepper use: "0-1", "0,3"; "" = all.
  std::string cpuset;
  bool cpuset_if_limited = false;       // only where these are not all of the host's
  std::vector<std::string> gpus;        // device ids; numbers travel as numbers
  std::vector<std::string> env_delta;   // layer 3, KEY=VALUE
  std::string stdout_file, stderr_file; // expanded absolute path; "" = over the channel
  std::vector<std::string> command;     // of this rank alone (--multi-prog); empty = the step's
  bool reads_stdin = false;             // gets IN frames; else stdin_file, or nothing when ""
  std::string stdin_file;
  bool on_terminal = false; // StepSpec::terminal is its stdin, stdout and stderr
};

struct StepSpec {
  std::vector<std::string> env; // layers 1 and 2, KEY=VALUE, same for all hosts
  std::vector<std::string> command;
  std::string chdir;
  bool chdir_explicit = false; // -D was given: a failing chdir fails the task
  bool label = false;
  bool unbuffered = false;
  bool open_append = false; // --open-mode=append
  bool export_none = false;
  std::string task_prolog, task_epilog; // programs around each task; "" = none
  std::string gpu_env_var;              // CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES or ""
  int umask = -1;                       // of the ranks and their files; -1 = the stepper's own
  std::vector<std::string> limits;      // soft ones, "CORE=0"; see posix::apply_soft_limits
  std::vector<std::string> host_env;    // names that ranks get from the stepper's environment
  std::int64_t kill_wait_ms = 30000;
  std::int64_t ping_interval_ms = 10000, ping_deadline_ms = 30000; // of the front's heartbeat
  // The job's mailbox, "" = none or no other host. The guardian of `master_host` writes down there
  // that the engine has stopped or continued the job; those of the other hosts listen.
  std::string mailbox, master_host;
  // The only rank is an srun that leads steppers of its own (--jobid from outside of the job). It
  // is asked to end and never killed with what it has started: a qrsh that dies by a signal takes
  // the whole job along (decision 7a).
  bool is_relay = false;
  std::optional<posix::TerminalState> terminal; // --pty: what the rank's terminal looks like
  std::vector<RankSpec> ranks;                  // this host only
};

struct Envelope {
  std::int64_t job_id = 0;
  int step_id = 0;
  std::string host;
  int node_id = 0;
  std::string dial;                  // "10.0.0.11:34567"
  std::vector<std::string> dial_alt; // tried after dial, 3 s each
};

// The host-independent part is encoded once; with_ranks() splices one host's ranks in.
class StepSpecEncoder {
public:
  explicit StepSpecEncoder(const StepSpec& common); // common.ranks is ignored
  [[nodiscard]] std::string with_ranks(const std::vector<RankSpec>& ranks) const {
    return *m_head + tail(ranks);
  }
  // The same in two parts, for a channel that shares the first among all hosts.
  [[nodiscard]] const std::shared_ptr<const std::string>& head() const { return m_head; }
  [[nodiscard]] static std::string tail(const std::vector<RankSpec>& ranks);

private:
  std::shared_ptr<const std::string> m_head; // up to and including `"ranks":`
};

[[nodiscard]] Result<StepSpec> decode_step_spec(std::string_view json);
[[nodiscard]] std::string encode_envelope(const Envelope& envelope); // base64 of compact JSON
[[nodiscard]] Result<Envelope> decode_envelope(std::string_view token);

} // namespace shim::proto
