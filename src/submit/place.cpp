#include "place.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/hostlist.h"
#include "slurm_shim/submit/refusal.h"

#include <fmt/core.h>

#include <algorithm>

namespace shim::submit {

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
  if (const auto* found = config.find_partition(name)) return *found;
  // The name under which squeue shows a queue that serves no partition.
  for (const auto& [queue, alias] : config.partition_aliases) {
    if (alias != name) continue;
    config::Partition partition;
    partition.name = name;
    partition.queue = queue;
    return partition;
  }
  return refuse_partition(name);
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

bool is_among(const std::vector<std::string>& names, const std::string& host) {
  return std::ranges::any_of(names, [&](const auto& name) { return same_host(name, host); });
}

// Free slots of a host in these queues; nothing where no job may start.
std::optional<int> free_slots(const ge::ExecHost& host, const std::vector<std::string>& queues) {
  constexpr std::string_view k_closed = "duESsACDco"; // disabled, unreachable, error, suspended ...
  std::optional<int> best;
  for (const auto& instance : host.queues) {
    if (std::ranges::count(queues, instance.queue) == 0 && queues.front() != "*") continue;
    if (instance.state.find_first_of(k_closed) != std::string::npos) continue;
    best = std::max(best.value_or(0), instance.total - instance.used - instance.reserved);
  }
  return best;
}

// The hosts with the most room that are not named yet.
std::vector<std::string> roomiest(const ge::HostList& hosts,
                                  const std::vector<std::string>& queues,
                                  const std::vector<std::string>& left_out,
                                  std::size_t count) {
  std::vector<std::pair<int, std::string>> found;
  for (const auto& host : hosts.hosts)
    if (const auto slots = free_slots(host, queues); slots && !is_among(left_out, host.name))
      found.emplace_back(-*slots, host.name);
  std::ranges::stable_sort(found, {}, [](const auto& one) { return one.first; });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < found.size() && i < count; ++i)
    names.push_back(found[i].second);
  return names;
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
  std::vector<std::string_view> seen;
  for (const auto name : split(place.name, ',')) {
    if (std::ranges::count(seen, name) > 0) continue;
    seen.push_back(name);
    TRY_ASSIGN(auto partition, one_partition(std::string(name), config, facts));
    if (!first && (partition.pe != place.partition.pe ||
                   partition.queue.empty() != place.partition.queue.empty())) {
      place.warnings.push_back(fmt::format("--partition: {} is left out: it does not share the "
                                           "parallel environment of {}",
                                           name,
                                           place.partition.name));
      continue;
    }
    if (!partition.queue.empty() && std::ranges::count(place.queues, partition.queue) == 0)
      place.queues.push_back(partition.queue);
    if (first) place.partition = std::move(partition);
    first = false;
  }
  return place;
}

Result<void> restrict_hosts(const Request& request,
                            const EngineFacts& facts,
                            int nodes,
                            ge::QsubRequest& qsub,
                            std::vector<std::string>& warnings) {
  std::vector<std::string> excluded;
  if (request.exclude && !request.exclude->empty()) {
    TRY_ASSIGN(excluded, hosts_of(*request.exclude, facts));
    qsub.resources.emplace_back("h", "!(" + join(excluded, "|") + ")");
  }
  if (!request.nodelist || request.nodelist->empty()) return {};
  TRY_ASSIGN(auto hosts, hosts_of(*request.nodelist, facts));
  for (const auto& host : hosts)
    if (std::ranges::count(excluded, host) > 0)
      return refuse_submission("Invalid node name specified");
  const auto queues = qsub.queues.empty() ? std::vector<std::string>{"*"} : qsub.queues;
  // One host of several: the batch script runs there, the scheduler adds the others.
  if (nodes > 1 && hosts.size() == 1) {
    for (const auto& queue : queues)
      qsub.master_queues.push_back(queue + "@" + hosts.front());
    return {};
  }
  if (const auto named = hosts.size(); nodes > static_cast<int>(named)) {
    const auto missing = static_cast<std::size_t>(nodes) - named;
    auto left_out = hosts;
    left_out.insert(left_out.end(), excluded.begin(), excluded.end());
    const auto more = facts.host_list ? roomiest(*facts.host_list, queues, left_out, missing)
                                      : std::vector<std::string>{};
    if (more.size() < missing)
      return refuse(fmt::format("--nodelist: {} hosts are named for {} nodes, and {} more that may "
                                "take jobs were not found: name all of them or none\n"
                                "Batch job submission failed: Requested node configuration is not "
                                "available",
                                named,
                                nodes,
                                missing));
    hosts.insert(hosts.end(), more.begin(), more.end());
    warnings.push_back(fmt::format("--nodelist: {} of {} hosts are named: {} with the most free "
                                   "slots of now {} taken along",
                                   named,
                                   nodes,
                                   join(more, ","),
                                   missing == 1 ? "is" : "are"));
  }
  qsub.queues.clear();
  for (const auto& queue : queues)
    for (const auto& host : hosts)
      qsub.queues.push_back(queue + "@" + host);
  return {};
}

config::PeByLayout family_by_name(const std::string& pe, const std::vector<std::string>& pes) {
  config::PeByLayout family;
  for (const auto& name : pes) {
    if (name == pe) family.round_robin = name;
    if (!name.starts_with(pe + "-")) continue;
    const auto member = std::string_view(name).substr(pe.size() + 1);
    if (member == "smp") family.pe_slots = name;
    if (member == "fill") family.fill_up = name;
    if (const auto slots = parse_int<int>(member); is_digits(member) && slots && *slots > 0)
      family.fixed[*slots] = name;
  }
  return family;
}

Result<void>
check_queue_has_pe(const Place& place, const EngineFacts& facts, const std::string& pe) {
  for (const auto& queue : place.queues) {
    const auto it = facts.queue_pes.find(queue);
    if (it == facts.queue_pes.end() || std::ranges::count(it->second, pe) > 0) continue;
    return refuse(
        fmt::format("partition \"{}\": queue {} does not have the parallel environment {} "
                    "(slurm-shim install adds it)\nBatch job submission failed: Requested "
                    "node configuration is not available",
                    place.name,
                    queue,
                    pe));
  }
  return {};
}

} // namespace shim::submit
