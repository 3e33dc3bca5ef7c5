#pragma once
// Job states: Slurm's words and letters, and what Grid Engine's state letters mean. Pure.
// Spec commands 1.1, 1.4.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::slurm {

enum class JobState {
  pending,
  running,
  suspended,
  completed,
  cancelled,
  failed,
  timeout,
  node_fail,
  preempted,
  boot_fail,
  deadline,
  out_of_memory,
  configuring,
  completing,
  resizing,
  requeued,
  revoked,
  signaling,
  special_exit,
  stage_out,
  stopped,
};

[[nodiscard]] std::string_view long_name(JobState state);  // "PENDING"
[[nodiscard]] std::string_view short_name(JobState state); // "PD"
// Either form, any case.
[[nodiscard]] std::optional<JobState> parse_job_state(std::string_view text);
// PENDING, RUNNING, SUSPENDED, COMPLETING, CONFIGURING ...: not at its end yet.
[[nodiscard]] bool is_live(JobState state);

// qstat's letters ("r", "hqw", "Eqw", "dr", ""): order of tests as in spec commands 1.1.
[[nodiscard]] JobState from_ge_state(std::string_view letters);

// Node states of a host, from its queue instances (spec commands 1.4).
enum class NodeState { idle, mixed, allocated, draining, drained, down, reserved };
struct QueueInstanceState {
  std::string letters; // "au", "d", "E", ...
  int used = 0, total = 0;
};
// Slots are summed; the host is down only when all its instances are.
[[nodiscard]] NodeState node_state(const std::vector<QueueInstanceState>& instances);
[[nodiscard]] std::string_view short_name(NodeState state); // "mix", "drng"
[[nodiscard]] std::string_view long_name(NodeState state);  // "mixed", "draining"

} // namespace shim::slurm
