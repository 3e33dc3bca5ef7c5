#pragma once
// StepSpec: everything a stepper needs to run its host's ranks, the payload of SPEC frames; and the
// routing envelope of the stepper's argv. Spec protocol 3, 4, 7.2, 7.3. JSON stays the payload
// format; strings that are not UTF-8 travel as {"b64": "..."}.

#include "slurm_shim/base/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace shim::proto {

struct RankSpec {
  int rank = 0;    // global
  int local = 0;   // on this host
  int node_id = 0; // step node index
  std::string cpuset;
  std::vector<int> gpus;
  std::vector<std::string> env_delta;   // layer 3, KEY=VALUE
  std::string stdout_file, stderr_file; // expanded absolute path; "" = over the channel
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
  std::string gpu_env_var; // CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES or ""
  std::int64_t kill_wait_ms = 30000;
  std::vector<RankSpec> ranks; // this host only
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
  [[nodiscard]] std::string tail(const std::vector<RankSpec>& ranks) const;

private:
  std::shared_ptr<const std::string> m_head; // up to and including `"ranks":`
};

[[nodiscard]] Result<StepSpec> decode_step_spec(std::string_view json);
[[nodiscard]] std::string encode_envelope(const Envelope& envelope); // base64 of compact JSON
[[nodiscard]] Result<Envelope> decode_envelope(std::string_view token);

} // namespace shim::proto
