#include "reasons.h"

#include "slurm_shim/ge/hosts.h"

#include <algorithm>

namespace shim::queue {

namespace {

std::string hold_reason(const ge::JobRow& row, const Known& known) {
  const bool ran_before = row.pending && row.state.find('R') != std::string::npos;
  auto by_user = ran_before ? std::string(k_requeued_held) : "JobHeldUser";
  if (known.facts != nullptr) {
    if (known.facts->user_hold) return by_user;
    if (known.facts->system_hold || known.facts->operator_hold) return "JobHeldAdmin";
    if (!known.facts->predecessors.empty()) return "Dependency";
  }
  return row.predecessors.empty() ? by_user : "Dependency";
}

} // namespace

Reasons::Reasons(const Source& source, const std::vector<ge::JobRow>& rows, bool partitions)
    : m_source(source), m_partitions(partitions) {
  for (const auto& row : rows)
    if (!row.pending && !row.tasks.empty()) ++m_running_tasks[row.job];
}

std::string Reasons::of(const ge::JobRow& row, const Known& known, const Job& job, bool in_vain) {
  const bool held = row.state.find('h') != std::string::npos;
  if (!job.pending()) return held ? hold_reason(row, known) : "None";
  if (row.state.find('E') != std::string::npos) return "launch failed requeued held";
  if (held)
    if (auto reason = hold_reason(row, known); reason != "Dependency") return reason;
  // The engine starts the job all the same, and there it ends.
  if (in_vain) return "DependencyNeverSatisfied";
  if (held) return "Dependency";
  if (job.begin > m_source.now) return "BeginTime";
  const auto running = m_running_tasks.find(row.job);
  if (job.throttle != 0 && running != m_running_tasks.end() && running->second >= job.throttle)
    return "JobArrayTaskLimit";
  if (auto fault = fault_of_partition(job)) return std::move(*fault);
  return m_first_waiting.insert(job.partition).second ? "Resources" : "Priority";
}

std::optional<std::string> Reasons::fault_of_partition(const Job& job) {
  const auto* partition = m_source.config.find_partition(job.partition);
  if (partition != nullptr && partition->max_time_min &&
      job.limit_min != slurm::k_unlimited_minutes &&
      job.limit_min > static_cast<std::uint32_t>(*partition->max_time_min))
    return "PartitionTimeLimit";
  const auto& name = partition != nullptr ? partition->queue : job.partition;
  const auto* queue = find_queue(name);
  if (queue == nullptr || queue->total <= 0) return std::nullopt;
  const int per_node = partition != nullptr ? partition->slots_per_node : 0;
  if (per_node > 0 && job.nodes > (queue->total + per_node - 1) / per_node)
    return "PartitionNodeLimit";
  if (queue->out_of_service < queue->total) return std::nullopt;
  return is_disabled(name) ? "PartitionDown"
                           : "Nodes required for job are DOWN, DRAINED or reserved for jobs in "
                             "higher priority partitions";
}

const ge::ClusterQueue* Reasons::find_queue(std::string_view name) {
  if (!m_partitions || name.empty()) return nullptr;
  if (!m_queues)
    m_queues = ge::list_cluster_queues(m_source.tools).value_or(std::vector<ge::ClusterQueue>{});
  const auto it = std::ranges::find(*m_queues, name, &ge::ClusterQueue::name);
  return it == m_queues->end() ? nullptr : &*it;
}

// By hand, as a whole; else some of its hosts are out of reach or in error.
bool Reasons::is_disabled(const std::string& queue) {
  const auto [it, fresh] = m_disabled.try_emplace(queue, false);
  if (!fresh) return it->second;
  const auto hosts = ge::list_hosts(m_source.tools);
  if (!hosts) return it->second;
  bool any = false;
  bool all = true;
  for (const auto& host : hosts->hosts)
    for (const auto& instance : host.queues) {
      if (instance.queue != queue) continue;
      any = true;
      all = all && instance.state.find('d') != std::string::npos;
    }
  return it->second = any && all;
}

} // namespace shim::queue
