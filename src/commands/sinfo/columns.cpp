#include "columns.h"

#include "slurm_shim/slurm/hostlist.h"
#include "slurm_shim/slurm/time_limit.h"

#include <fmt/core.h>

#include <algorithm>

namespace shim::commands::sinfo {

namespace {

using slurm::NodeState;
using Splits = Column::Splits;

template <const char* Text> std::string fixed(const Row&) {
  return Text;
}
constexpr char k_all[] = "all", k_no[] = "no", k_upper_no[] = "NO", k_one[] = "1", k_off[] = "OFF";
constexpr char k_unknown[] = "Unknown", k_na[] = "N/A", k_null[] = "(null)", k_zero[] = "0";
constexpr char k_unlimited[] = "UNLIMITED", k_size[] = "1-infinite";

std::string minutes_or(std::optional<int> minutes, std::string_view none) {
  return minutes ? slurm::format_duration_short(std::int64_t{*minutes} * 60) : std::string(none);
}

// The least of a number over the nodes, with '+' when there is more than one.
template <class Get> std::string least(const Row& row, Get get) {
  if (row.members.empty()) return "0";
  auto low = get(*row.members.front().node);
  auto high = low;
  for (const auto& member : row.members) {
    low = std::min(low, get(*member.node));
    high = std::max(high, get(*member.node));
  }
  return std::to_string(low) + (low == high ? "" : "+");
}

bool other(NodeState state) {
  return state == NodeState::down || state == NodeState::drained || state == NodeState::draining;
}

struct Counts {
  int allocated = 0, idle = 0, other = 0;
};

Counts node_counts(const Row& row) {
  Counts counts;
  for (const auto& member : row.members) {
    const auto state = member.view->state;
    // A node that drains is counted where its jobs are.
    if (state == NodeState::draining || state == NodeState::mixed || state == NodeState::allocated)
      ++counts.allocated;
    else if (other(state))
      ++counts.other;
    else
      ++counts.idle;
  }
  return counts;
}

Counts cpu_counts(const Row& row) {
  Counts counts;
  for (const auto& member : row.members) {
    const auto free = std::max(0, member.view->total - member.view->used);
    counts.allocated += member.view->used;
    (other(member.view->state) ? counts.other : counts.idle) += free;
  }
  return counts;
}

std::string partition_name(const Row& row) {
  return row.partition == nullptr ? "" : row.partition->name;
}

std::string starred_name(const Row& row) {
  return partition_name(row) + (row.partition != nullptr && row.partition->is_default ? "*" : "");
}

std::string node_list(const Row& row) {
  std::vector<std::string> names;
  for (const auto& member : row.members)
    names.push_back(member.node->name);
  slurm::sort_hosts(names);
  return slurm::compress_hostlist(names);
}

std::string first_node(const Row& row) {
  return row.members.empty() ? "" : row.members.front().node->name;
}

std::string load_range(const Row& row) {
  std::optional<double> low;
  std::optional<double> high;
  for (const auto& member : row.members)
    if (const auto load = member.node->load) {
      low = std::min(low.value_or(*load), *load);
      high = std::max(high.value_or(*load), *load);
    }
  if (!low) return "N/A";
  return *low == *high ? fmt::format("{:.2f}", *low) : fmt::format("{:.2f}-{:.2f}", *low, *high);
}

std::string free_memory(const Row& row) {
  std::optional<std::uint64_t> low;
  std::optional<std::uint64_t> high;
  for (const auto& member : row.members)
    if (member.node->free_mib != 0) {
      low = std::min(low.value_or(member.node->free_mib), member.node->free_mib);
      high = std::max(high.value_or(member.node->free_mib), member.node->free_mib);
    }
  if (!low) return "N/A";
  return *low == *high ? std::to_string(*low) : fmt::format("{}-{}", *low, *high);
}

std::string reason(const Row& row) {
  const auto text = row.members.empty() ? std::string() : row.members.front().node->reason;
  return text.empty() ? "none" : text;
}

std::string features(const Row& row) {
  const auto text = row.members.empty() ? std::string() : row.members.front().node->features;
  return text.empty() ? "(null)" : text;
}

std::string gres(const Row& row) {
  const int count = row.members.empty() ? 0 : row.members.front().node->gpus;
  return count > 0 ? fmt::format("gpu:{}", count) : "(null)";
}

std::string gres_used(const Row& row) {
  if (row.members.empty() || row.members.front().node->gpus == 0) return "(null)";
  return fmt::format("gpu:{}", row.members.front().node->gpus_used);
}

std::string cpus(const Row& row) {
  if (row.members.empty()) return "0";
  int low = row.members.front().view->total;
  int high = low;
  for (const auto& member : row.members) {
    low = std::min(low, member.view->total);
    high = std::max(high, member.view->total);
  }
  return std::to_string(low) + (low == high ? "" : "+");
}

std::string sockets_cores_threads(const Row& row) {
  if (row.members.empty()) return "0:0:0";
  const auto& node = *row.members.front().node;
  return fmt::format("{}:{}:{}", node.sockets, node.cores, node.threads);
}

std::string short_state(const Row& row) {
  return row.members.empty() ? "n/a" : cluster::short_state(*row.members.front().view);
}

std::string long_state(const Row& row) {
  return row.members.empty() ? "n/a" : cluster::long_state(*row.members.front().view);
}

std::string available(const Row& row) {
  return row.partition == nullptr || row.partition->up ? "up" : "down";
}

// In order of letters. What Grid Engine has no word for shows what Slurm shows when it is not set.
constexpr Column k_columns[] = {
    {'A',
     "nodeai",
     "NODES(A/I)",
     [](const Row& row) {
       const auto counts = node_counts(row);
       return fmt::format("{}/{}", counts.allocated, counts.idle);
     }},
    {'B', "maxcpuspernode", "MAX_CPUS_PER_NODE", fixed<k_unlimited>},
    {'C',
     "cpusstate",
     "CPUS(A/I/O/T)",
     [](const Row& row) {
       const auto counts = cpu_counts(row);
       return fmt::format("{}/{}/{}/{}",
                          counts.allocated,
                          counts.idle,
                          counts.other,
                          counts.allocated + counts.idle + counts.other);
     }},
    {'D', "nodes", "NODES", [](const Row& row) { return std::to_string(row.members.size()); }},
    {'E', "reason", "REASON", reason, Splits::always},
    {'F',
     "nodeaiot",
     "NODES(A/I/O/T)",
     [](const Row& row) {
       const auto counts = node_counts(row);
       return fmt::format(
           "{}/{}/{}/{}", counts.allocated, counts.idle, counts.other, row.members.size());
     }},
    {'G', "gres", "GRES", gres, Splits::always},
    {'H', "timestamp", "TIMESTAMP", fixed<k_unknown>},
    {'I', "priorityjobfactor", "PRIO_JOB_FACTOR", fixed<k_one>},
    {'L',
     "defaulttime",
     "DEFAULTTIME",
     [](const Row& row) {
       return minutes_or(row.partition == nullptr ? std::nullopt : row.partition->default_time_min,
                         "n/a");
     },
     Splits::always},
    {'M', "preemptmode", "PREEMPT_MODE", fixed<k_off>},
    {'N', "nodelist", "NODELIST", node_list},
    {'O', "cpusload", "CPU_LOAD", load_range},
    {'P', "partition", "PARTITION", starred_name, Splits::always},
    {'R', "partitionname", "PARTITION", partition_name, Splits::always},
    {'S', "allocnodes", "ALLOCNODES", fixed<k_all>},
    {'T', "statelong", "STATE", long_state, Splits::always},
    {'U', "userlong", "USER", fixed<k_unknown>},
    {'V', "cluster", "CLUSTER", fixed<k_na>},
    {'X',
     "sockets",
     "SOCKETS",
     [](const Row& row) { return least(row, [](const auto& node) { return node.sockets; }); },
     Splits::exact},
    {'Y',
     "cores",
     "CORES",
     [](const Row& row) { return least(row, [](const auto& node) { return node.cores; }); },
     Splits::exact},
    {'Z',
     "threads",
     "THREADS",
     [](const Row& row) { return least(row, [](const auto& node) { return node.threads; }); },
     Splits::exact},
    {'a', "available", "AVAIL", available, Splits::always},
    {'b', "features_act", "ACTIVE_FEATURES", features, Splits::always},
    {'c', "cpus", "CPUS", cpus, Splits::exact},
    {'d', "disk", "TMP_DISK", fixed<k_zero>},
    {'e', "freemem", "FREE_MEM", free_memory},
    {'f', "features", "AVAIL_FEATURES", features, Splits::always},
    {'g', "groups", "GROUPS", fixed<k_all>},
    {'h', "oversubscribe", "OVERSUBSCRIBE", fixed<k_upper_no>},
    {'l',
     "time",
     "TIMELIMIT",
     [](const Row& row) {
       return minutes_or(row.partition == nullptr ? std::nullopt : row.partition->max_time_min,
                         "infinite");
     },
     Splits::always},
    {'m',
     "memory",
     "MEMORY",
     [](const Row& row) { return least(row, [](const auto& node) { return node.memory_mib; }); },
     Splits::exact},
    {'n', "nodehost", "HOSTNAMES", first_node, Splits::always},
    {'o', "nodeaddr", "NODE_ADDR", first_node, Splits::always},
    {'p', "prioritytier", "PRIO_TIER", fixed<k_one>},
    {'r', "root", "ROOT", fixed<k_no>},
    {'s', "size", "JOB_SIZE", fixed<k_size>},
    {'t', "statecompact", "STATE", short_state, Splits::always},
    {'u', "user", "USER", fixed<k_unknown>},
    {'v', "version", "VERSION", fixed<k_na>},
    {'w', "weight", "WEIGHT", fixed<k_one>},
    {'z', "socketcorethread", "S:C:T", sockets_cores_threads, Splits::exact},
    {0, "allocmem", "ALLOCMEM", fixed<k_zero>},
    {0, "comment", "COMMENT", fixed<k_null>},
    {0, "extra", "EXTRA", fixed<k_null>},
    {0, "gresused", "GRES_USED", gres_used, Splits::always},
    {0, "priority", "PRIO_TIER", fixed<k_one>},
    {0, "port", "PORT", fixed<k_zero>},
    {0, "statecomplete", "STATECOMPLETE", long_state, Splits::always},
};

} // namespace

std::span<const Column> columns() {
  return k_columns;
}

} // namespace shim::commands::sinfo
