#include "place.h"

#include "refusal.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/hostlist.h"
#include "slurm_shim/slurm/resources.h"

#include <fmt/core.h>

#include <algorithm>

namespace shim::commands::sbatch {

tl::unexpected<Error> refuse_partition(std::string_view name) {
  return refuse("invalid partition specified: " +
                std::string(name.empty() ? std::string_view("(null)") : name) +
                "\nBatch job submission failed: Invalid partition name specified");
}

namespace {

// Without a partitions map a cluster queue is a partition, with or without its ".q".
Result<config::Partition> implicit_partition(const std::string& name, const EngineFacts& facts) {
  config::Partition partition;
  partition.name = name;
  partition.queue = name;
  if (name.empty()) return refuse_partition(name);
  if (!facts.queues || std::ranges::count(*facts.queues, name) > 0) return partition;
  if (std::ranges::count(*facts.queues, name + ".q") == 0) return refuse_partition(name);
  partition.queue = name + ".q";
  return partition;
}

Result<config::Partition>
one_partition(const std::string& name, const config::Config& config, const EngineFacts& facts) {
  if (config.partitions.empty()) return implicit_partition(name, facts);
  const auto* found = config.find_partition(name);
  if (found == nullptr) return refuse_partition(name);
  return *found;
}

std::vector<std::pair<std::string, std::string>> parse_pairs(std::string_view list) {
  if (list.starts_with("-l ")) list = trim(list.substr(3));
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto item : split(list, ',')) {
    const auto equals = item.find('=');
    if (trim(item).empty()) continue;
    pairs.emplace_back(
        std::string(trim(item.substr(0, equals))),
        equals == std::string_view::npos ? "" : std::string(trim(item.substr(equals + 1))));
  }
  return pairs;
}

void append(ge::QsubRequest& qsub, std::string_view list) {
  for (auto& pair : parse_pairs(list))
    qsub.resources.push_back(std::move(pair));
}

// Names with and without their domain are the same host.
bool same_host(std::string_view a, std::string_view b) {
  const auto short_name = [](std::string_view name) { return name.substr(0, name.find('.')); };
  const bool one_is_short =
      a.find('.') == std::string_view::npos || b.find('.') == std::string_view::npos;
  return equals_ignore_case(a, b) ||
         (one_is_short && equals_ignore_case(short_name(a), short_name(b)));
}

Result<std::vector<std::string>> hosts_of(const std::string& list, const EngineFacts& facts) {
  auto hosts = slurm::expand_hostlist(list);
  if (!hosts) return refuse_submission("Invalid node name specified");
  for (const auto& host : *hosts) {
    const auto is_it = [&](const std::string& known) { return same_host(host, known); };
    if (facts.hosts && std::ranges::none_of(*facts.hosts, is_it))
      return refuse_submission("Invalid node name specified");
  }
  return std::move(*hosts);
}

// Alternatives and counts of a constraint have no translation; names joined by '&' or ',' do.
Result<void> add_features(const std::string& expression,
                          const config::Config& config,
                          ge::QsubRequest& qsub,
                          std::vector<std::string>& warnings) {
  std::string names = expression;
  std::ranges::replace(names, '&', ',');
  for (const auto part : split(names, ',')) {
    const auto name = trim(part);
    const auto it = config.features.find(std::string(name));
    if (it != config.features.end())
      append(qsub, it->second);
    else if (config.features.empty() || name.find_first_of("|[]()*") != std::string_view::npos)
      warnings.push_back(
          fmt::format("--constraint: \"{}\" is not translated: any host may be used", name));
    else
      return refuse_submission("Invalid feature specification");
  }
  return {};
}

Result<void>
add_licenses(const std::string& text, const config::Config& config, ge::QsubRequest& qsub) {
  const auto licenses = slurm::parse_licenses(text);
  if (!licenses) return refuse(licenses.error().message, licenses.error().exit_code);
  for (const auto& license : *licenses) {
    const auto it = config.licenses.find(license.name);
    if (it == config.licenses.end()) return refuse_submission("Invalid license specification");
    qsub.resources.emplace_back(it->second, std::to_string(license.count));
  }
  return {};
}

} // namespace

Result<Place>
find_place(const Request& request, const config::Config& config, const EngineFacts& facts) {
  Place place;
  place.name = request.partition.value_or(config.default_partition_name());
  if (!request.partition && place.name.empty()) {
    if (!config.partitions.empty())
      return refuse_submission("No partition specified or system default partition");
    return place;
  }
  bool first = true;
  for (const auto name : split(place.name, ',')) {
    TRY_ASSIGN(auto partition, one_partition(std::string(name), config, facts));
    if (!first && (partition.pe != place.partition.pe ||
                   partition.queue.empty() != place.partition.queue.empty())) {
      place.warnings.push_back(fmt::format("--partition: {} is left out: it does not share the "
                                           "parallel environment of {}",
                                           name,
                                           place.partition.name));
      continue;
    }
    if (!partition.queue.empty()) place.queues.push_back(partition.queue);
    if (first) place.partition = std::move(partition);
    first = false;
  }
  return place;
}

Result<void>
restrict_hosts(const Request& request, const EngineFacts& facts, int nodes, ge::QsubRequest& qsub) {
  std::vector<std::string> excluded;
  if (request.exclude && !request.exclude->empty()) {
    TRY_ASSIGN(excluded, hosts_of(*request.exclude, facts));
    qsub.resources.emplace_back("h", "!(" + join(excluded, "|") + ")");
  }
  if (!request.nodelist || request.nodelist->empty()) return {};
  TRY_ASSIGN(const auto hosts, hosts_of(*request.nodelist, facts));
  for (const auto& host : hosts)
    if (std::ranges::count(excluded, host) > 0)
      return refuse_submission("Invalid node name specified");
  if (nodes > static_cast<int>(hosts.size()))
    return refuse(fmt::format("--nodelist: {} hosts are named for {} nodes: name all of them or "
                              "none\nBatch job submission failed: Requested node configuration is "
                              "not available",
                              hosts.size(),
                              nodes));
  const auto queues = qsub.queues.empty() ? std::vector<std::string>{"*"} : qsub.queues;
  qsub.queues.clear();
  for (const auto& queue : queues)
    for (const auto& host : hosts)
      qsub.queues.push_back(queue + "@" + host);
  return {};
}

Result<void> add_resources(const Request& request,
                           const config::Config& config,
                           ge::QsubRequest& qsub,
                           std::vector<std::string>& warnings) {
  if (request.constraint) TRY(add_features(*request.constraint, config, qsub, warnings));
  if (request.licenses && !request.licenses->empty())
    TRY(add_licenses(*request.licenses, config, qsub));
  for (const auto& gres : request.gres) {
    if (gres.name == "gpu") continue;
    const auto it = config.gres_map.find(gres.name);
    if (it == config.gres_map.end()) return refuse("Invalid generic resource (gres) specification");
    qsub.resources.emplace_back(it->second, std::to_string(gres.count));
  }
  if (request.exclusive && !config.exclusive_complex.empty())
    qsub.resources.emplace_back(config.exclusive_complex, "true");
  else if (request.exclusive)
    warnings.emplace_back("--exclusive: hosts may be shared with other jobs");
  return {};
}

void add_memory(const Memory& memory,
                const config::Config& config,
                const EngineFacts& facts,
                const Geometry& geometry,
                int slots_per_node,
                ge::QsubRequest& qsub,
                std::vector<std::string>& warnings) {
  const auto drop = [&](std::string_view why) {
    warnings.push_back(fmt::format("the memory request is dropped: {}", why));
  };
  if (memory.mebibytes == 0) return drop("all of a host's memory cannot be asked for");
  if (config.memory_complex.empty()) return drop("no memory_complex is configured");
  if (memory.per == MemoryPer::gpu) return drop("--mem-per-gpu is not translated yet");
  const auto kind =
      config.memory_consumable == "auto" ? facts.memory_kind : config.memory_consumable;
  if (kind == "none") return drop("memory_consumable is none");
  const bool multiplies = (kind == "slot" && memory.per == MemoryPer::node) ||
                          (kind == "host" && memory.per == MemoryPer::cpu);
  if (slots_per_node == 0 && multiplies)
    warnings.emplace_back("memory: the layout is open, all slots are taken to be on one host");
  const auto on_host = slots_per_node > 0 ? static_cast<std::uint64_t>(slots_per_node)
                                          : static_cast<std::uint64_t>(geometry.slots);
  std::uint64_t amount = memory.mebibytes;
  if (kind == "slot" && memory.per == MemoryPer::node)
    amount = (memory.mebibytes + on_host - 1) / on_host;
  else if (kind == "host" && memory.per == MemoryPer::cpu)
    amount = memory.mebibytes * on_host;
  else if (kind == "job") {
    if (geometry.nodes != 1) return drop("a complex that counts per job serves one host only");
    if (memory.per == MemoryPer::cpu)
      amount = memory.mebibytes * static_cast<std::uint64_t>(geometry.slots);
  }
  qsub.resources.emplace_back(config.memory_complex, fmt::format("{}M", amount));
}

} // namespace shim::commands::sbatch
