#include "slurm_shim/slurm/states.h"

#include "slurm_shim/base/strings.h"

#include <array>

namespace shim::slurm {

namespace {

struct StateName {
  JobState state;
  std::string_view short_name, long_name;
};
constexpr std::array k_states{
    StateName{JobState::pending, "PD", "PENDING"},
    StateName{JobState::running, "R", "RUNNING"},
    StateName{JobState::suspended, "S", "SUSPENDED"},
    StateName{JobState::completed, "CD", "COMPLETED"},
    StateName{JobState::cancelled, "CA", "CANCELLED"},
    StateName{JobState::failed, "F", "FAILED"},
    StateName{JobState::timeout, "TO", "TIMEOUT"},
    StateName{JobState::node_fail, "NF", "NODE_FAIL"},
    StateName{JobState::preempted, "PR", "PREEMPTED"},
    StateName{JobState::boot_fail, "BF", "BOOT_FAIL"},
    StateName{JobState::deadline, "DL", "DEADLINE"},
    StateName{JobState::out_of_memory, "OOM", "OUT_OF_MEMORY"},
    StateName{JobState::configuring, "CF", "CONFIGURING"},
    StateName{JobState::completing, "CG", "COMPLETING"},
    StateName{JobState::resizing, "RS", "RESIZING"},
    StateName{JobState::requeued, "RQ", "REQUEUED"},
    StateName{JobState::revoked, "RV", "REVOKED"},
    StateName{JobState::signaling, "SI", "SIGNALING"},
    StateName{JobState::special_exit, "SE", "SPECIAL_EXIT"},
    StateName{JobState::stage_out, "SO", "STAGE_OUT"},
    StateName{JobState::stopped, "ST", "STOPPED"},
};

const StateName& names_of(JobState state) {
  for (const auto& entry : k_states)
    if (entry.state == state) return entry;
  return k_states.front();
}

bool has_any(std::string_view letters, std::string_view wanted) {
  return letters.find_first_of(wanted) != std::string_view::npos;
}

} // namespace

std::string_view long_name(JobState state) {
  return names_of(state).long_name;
}
std::string_view short_name(JobState state) {
  return names_of(state).short_name;
}

std::optional<JobState> parse_job_state(std::string_view text) {
  for (const auto& entry : k_states)
    if (equals_ignore_case(text, entry.short_name) || equals_ignore_case(text, entry.long_name))
      return entry.state;
  return std::nullopt;
}

bool is_live(JobState state) {
  switch (state) {
  case JobState::pending:
  case JobState::running:
  case JobState::suspended:
  case JobState::configuring:
  case JobState::completing:
  case JobState::resizing:
  case JobState::requeued:
  case JobState::signaling:
  case JobState::stage_out:
  case JobState::stopped: return true;
  default: return false;
  }
}

JobState from_ge_state(std::string_view letters) {
  if (letters.empty()) return JobState::completed;
  if (has_any(letters, "d")) return JobState::completing;
  if (has_any(letters, "E")) return JobState::pending;
  if (has_any(letters, "sST")) return JobState::suspended;
  if (has_any(letters, "rt")) return JobState::running;
  return JobState::pending;
}

NodeState node_state(const std::vector<QueueInstanceState>& instances) {
  int used = 0;
  int total = 0;
  bool all_down = true;
  bool drain = false;
  for (const auto& instance : instances) {
    used += instance.used;
    total += instance.total;
    const bool down = has_any(instance.letters, "uEco");
    all_down = all_down && down;
    drain = drain || (!down && has_any(instance.letters, "dDsSC"));
  }
  if (instances.empty() || all_down) return NodeState::down;
  if (drain) return used > 0 ? NodeState::draining : NodeState::drained;
  if (used >= total && total > 0) return NodeState::allocated;
  return used > 0 ? NodeState::mixed : NodeState::idle;
}

namespace {

struct NodeStateName {
  NodeState state;
  std::string_view short_name, long_name;
};
constexpr std::array k_node_states{
    NodeStateName{NodeState::idle, "idle", "idle"},
    NodeStateName{NodeState::mixed, "mix", "mixed"},
    NodeStateName{NodeState::allocated, "alloc", "allocated"},
    NodeStateName{NodeState::draining, "drng", "draining"},
    NodeStateName{NodeState::drained, "drain", "drained"},
    NodeStateName{NodeState::down, "down", "down"},
    NodeStateName{NodeState::reserved, "resv", "reserved"},
};

} // namespace

std::string_view short_name(NodeState state) {
  for (const auto& entry : k_node_states)
    if (entry.state == state) return entry.short_name;
  return "unk";
}

std::string_view long_name(NodeState state) {
  for (const auto& entry : k_node_states)
    if (entry.state == state) return entry.long_name;
  return "unknown";
}

} // namespace shim::slurm
