#include "slurm_shim/base/strings.h"
#include "slurm_shim/cluster/cluster.h"
#include "slurm_shim/slurm/hostlist.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

namespace shim::cluster {

namespace {

constexpr std::uint64_t k_mib = std::uint64_t{1} << 20;

bool has_any(std::string_view letters, std::string_view set) {
  return letters.find_first_of(set) != std::string_view::npos;
}

bool is_disabled(const ge::QueueInstance& instance) {
  return has_any(instance.state, "d");
}

// Queues that were disabled as a whole: partitions that are down, their hosts are not. When all
// instances of a queue are disabled because its hosts were, the other queues of the hosts tell.
std::set<std::string> disabled_queues(const ge::HostList& hosts) {
  std::map<std::string, bool> all;
  for (const auto& host : hosts.hosts)
    for (const auto& instance : host.queues) {
      const auto [it, fresh] = all.try_emplace(instance.queue, true);
      it->second = it->second && is_disabled(instance);
    }
  const auto drained_for = [&](const ge::ExecHost& host, const std::string& queue) {
    return std::ranges::any_of(host.queues, [&](const ge::QueueInstance& other) {
      return other.queue != queue && is_disabled(other) && !all[other.queue];
    });
  };
  std::set<std::string> disabled;
  for (const auto& [name, every] : all) {
    const auto& queue = name; // clang 14 lets no lambda see a structured binding
    const bool by_hosts = std::ranges::all_of(hosts.hosts, [&](const ge::ExecHost& host) {
      const bool has =
          std::ranges::find(host.queues, queue, &ge::QueueInstance::queue) != host.queues.end();
      return !has || drained_for(host, queue);
    });
    if (every && !by_hosts) disabled.insert(queue);
  }
  return disabled;
}

// Slots that are free on the host whatever the queue, where the host bounds them.
std::optional<int> free_slots(const ge::ExecHost& host) {
  const auto* slots = host.resource("slots");
  if (slots == nullptr || slots->dominance != "hc") return std::nullopt;
  return static_cast<int>(std::lround(std::strtod(slots->value.c_str(), nullptr)));
}

View view_of(const ge::ExecHost& host,
             const std::vector<const ge::QueueInstance*>& instances,
             const std::set<std::string>& disabled) {
  std::vector<slurm::QueueInstanceState> states;
  View view;
  bool heard = instances.empty();
  for (const auto* instance : instances) {
    auto letters = instance->state;
    if (disabled.contains(instance->queue)) std::erase(letters, 'd');
    heard = heard || !has_any(letters, "u");
    states.push_back({letters, instance->used, instance->total});
    view.used += instance->used;
    view.total += instance->total;
  }
  // A host that bounds its slots is as full as all its queues make it.
  if (const auto free = free_slots(host); free && !states.empty()) {
    int used = 0;
    for (const auto& instance : host.queues)
      used += instance.used;
    view.used = used;
    view.total = used + std::max(0, *free);
    for (auto& state : states)
      state.used = state.total = 0;
    states.front().used = view.used;
    states.front().total = view.total;
  }
  view.responding = heard;
  view.state = slurm::node_state(states);
  // A host that was taken out by hand stays so when it does not answer any more.
  if (!heard &&
      std::ranges::all_of(states, [](const auto& state) { return has_any(state.letters, "d"); }))
    view.state = view.used > 0 ? slurm::NodeState::draining : slurm::NodeState::drained;
  return view;
}

std::string reason_of(const View& view, const std::vector<const ge::QueueInstance*>& instances) {
  if (view.state != slurm::NodeState::down && view.state != slurm::NodeState::drained &&
      view.state != slurm::NodeState::draining)
    return {};
  std::string letters;
  for (const auto* instance : instances)
    letters += instance->state;
  if (has_any(letters, "u")) return "Not responding";
  if (has_any(letters, "E")) return "queue in error state";
  if (has_any(letters, "d")) return "queue disabled";
  if (has_any(letters, "D")) return "queue disabled by its calendar";
  if (has_any(letters, "sSC")) return "queue suspended";
  return instances.empty() ? "no queue" : "queue not usable";
}

// A feature is the -l request that the configuration gives it: the host has it when its values are
// those.
std::string features_of(const config::Config& config, const ge::ExecHost& host) {
  std::string features;
  for (const auto& [feature, request] : config.features) {
    const auto items = split(request, ',');
    const bool fits = std::ranges::all_of(items, [&](std::string_view item) {
      const auto equals = item.find('=');
      const auto* value = host.resource(trim(item.substr(0, equals)));
      return value != nullptr && equals != std::string_view::npos &&
             value->value == trim(item.substr(equals + 1));
    });
    if (fits) features += (features.empty() ? "" : ",") + feature;
  }
  return features;
}

Node node_of(const config::Config& config,
             const ge::ExecHost& host,
             const std::set<std::string>& disabled) {
  Node node;
  node.name = host.name;
  std::vector<const ge::QueueInstance*> instances;
  for (const auto& instance : host.queues)
    instances.push_back(&instance);
  node.view = view_of(host, instances, disabled);
  // Without a bound the queues share the processors: the largest of them says how many slots.
  if (!free_slots(host)) {
    int most = 0;
    for (const auto* instance : instances)
      most = std::max(most, instance->total);
    node.view.total = std::max(most, node.view.used);
  }
  node.reason = reason_of(node.view, instances);
  node.sockets = std::max(1, host.sockets.value_or(1));
  const auto cores = host.cores.value_or(node.view.total);
  node.cores = std::max(1, cores / node.sockets);
  node.threads = std::max(1, host.threads.value_or(cores) / std::max(1, cores));
  node.load = host.load;
  node.memory_mib = host.mem_total.value_or(0) / k_mib;
  if (host.mem_total && host.mem_used && *host.mem_total > *host.mem_used)
    node.free_mib = (*host.mem_total - *host.mem_used) / k_mib;
  node.arch = host.arch;
  node.features = features_of(config, host);
  if (const auto* devices = host.resource(config.gpu.gres_complex))
    node.gpus = static_cast<int>(std::lround(std::strtod(devices->value.c_str(), nullptr)));
  return node;
}

std::vector<Partition> named_partitions(const config::Config& config, const ge::HostList& hosts) {
  std::vector<Partition> partitions;
  std::set<std::string> covered;
  const auto default_name = config.default_partition_name();
  for (const auto& partition : config.partitions) {
    Partition named;
    named.name = partition.name;
    named.queue = partition.queue;
    named.is_default = partition.name == default_name;
    named.default_time_min = partition.default_time_min;
    named.max_time_min = partition.max_time_min;
    partitions.push_back(std::move(named));
    covered.insert(partition.queue);
  }
  for (const auto& host : hosts.hosts)
    for (const auto& instance : host.queues)
      if (covered.insert(instance.queue).second) {
        Partition named;
        named.name = config.partition_of_queue(instance.queue);
        named.queue = instance.queue;
        named.is_default = named.name == default_name;
        partitions.push_back(std::move(named));
      }
  return partitions;
}

} // namespace

const Node* Cluster::find_node(std::string_view name) const {
  for (const auto& node : nodes)
    if (node.name == name) return &node;
  for (const auto& node : nodes)
    if (std::string_view(node.name).substr(0, node.name.find('.')) == name) return &node;
  return nullptr;
}

const Partition* Cluster::find_partition(std::string_view name) const {
  const auto it = std::ranges::find(partitions, name, &Partition::name);
  return it == partitions.end() ? nullptr : &*it;
}

Cluster assemble(const config::Config& config, const ge::HostList& hosts) {
  Cluster cluster;
  std::unordered_map<std::string_view, const ge::ExecHost*> by_name;
  std::vector<std::string> names;
  for (const auto& host : hosts.hosts)
    if (by_name.emplace(host.name, &host).second) names.push_back(host.name);
  slurm::sort_hosts(names);
  std::vector<const ge::ExecHost*> in_order;
  in_order.reserve(names.size());
  for (const auto& name : names)
    in_order.push_back(by_name.at(name));
  const auto disabled = disabled_queues(hosts);
  for (const auto* host : in_order)
    cluster.nodes.push_back(node_of(config, *host, disabled));
  cluster.partitions = named_partitions(config, hosts);
  for (auto& partition : cluster.partitions) {
    partition.up = !disabled.contains(partition.queue);
    for (std::size_t i = 0; i < in_order.size(); ++i) {
      const auto* host = in_order[i];
      std::vector<const ge::QueueInstance*> instances;
      for (const auto& instance : host->queues)
        // A partition without a queue takes any.
        if (partition.queue.empty() || instance.queue == partition.queue)
          instances.push_back(&instance);
      if (instances.empty()) continue;
      partition.nodes.emplace_back(i, view_of(*host, instances, disabled));
      cluster.nodes[i].partitions.push_back(partition.name);
    }
  }
  return cluster;
}

} // namespace shim::cluster
