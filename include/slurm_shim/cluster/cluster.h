#pragma once
// Nodes and partitions as Slurm would show them, from Grid Engine's hosts and queue instances and
// the configuration's partitions. Owns the states and their flags, the counts of CPUs and devices;
// prints nothing. Callers: sinfo, scontrol. Spec commands 1.4, 5, 6.

#include "slurm_shim/base/result.h"
#include "slurm_shim/config/config.h"
#include "slurm_shim/ge/hosts.h"
#include "slurm_shim/ge/tools.h"
#include "slurm_shim/slurm/states.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::cluster {

// A host as one partition sees it: queue instances may be disabled one by one.
struct View {
  slurm::NodeState state = slurm::NodeState::idle;
  bool responding = true;  // false: Slurm's "*"
  int used = 0, total = 0; // slots
};
[[nodiscard]] std::string short_state(const View& view); // "drain*"
[[nodiscard]] std::string long_state(const View& view);  // "drained*"
// Slurm's order: base state, then draining, then not responding.
[[nodiscard]] int state_rank(const View& view);
// Whether a word of `sinfo -t` means this state; nothing: no such word.
[[nodiscard]] std::optional<bool> state_matches(std::string_view word, const View& view);

struct Node {
  std::string name;                        // exactly as the engine writes it
  View view;                               // over all its queue instances
  int sockets = 1, cores = 1, threads = 1; // cores of a socket, threads of a core
  std::optional<double> load;
  std::uint64_t memory_mib = 0, free_mib = 0; // 0 = not known
  int gpus = 0, gpus_used = 0;
  std::string arch;
  std::string features; // of the configuration, comma-separated; "" = none
  std::string reason;   // why it takes no jobs; "" = it does
  std::vector<std::string> partitions;
};

struct Partition {
  std::string name, queue;
  bool is_default = false;
  bool up = true; // false: all its queue instances are disabled
  std::optional<int> default_time_min, max_time_min;
  std::vector<std::pair<std::size_t, View>> nodes; // index into Cluster::nodes, in natural order
};

struct Cluster {
  std::vector<Node> nodes; // in natural order
  std::vector<Partition> partitions;
  [[nodiscard]] const Node* find_node(std::string_view name) const; // exact or short name
  [[nodiscard]] const Partition* find_partition(std::string_view name) const;
};

// Pure: partitions in the configuration's order, then queues that no partition names.
[[nodiscard]] Cluster assemble(const config::Config& config, const ge::HostList& hosts);
// One call of qhost; with `devices` one of qconf for the hosts that have some.
[[nodiscard]] Result<Cluster>
load(const ge::Tools& tools, const config::Config& config, bool devices);

} // namespace shim::cluster
