#include "scontrol.h"
#include "session.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/cluster/cluster.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/slurm/hostlist.h"
#include "slurm_shim/slurm/memory.h"
#include "slurm_shim/slurm/time_limit.h"
#include "slurm_shim/slurm/words.h"

#include <fmt/core.h>

#include <algorithm>

namespace shim::commands::scontrol {

namespace {

using cluster::Cluster;
using cluster::Node;
using cluster::Partition;

std::string state_of(const cluster::View& view) {
  std::string state;
  switch (view.state) {
  case slurm::NodeState::drained: state = "IDLE+DRAIN"; break;
  case slurm::NodeState::draining: state = "MIXED+DRAIN"; break;
  default: state = to_upper(slurm::long_name(view.state));
  }
  return view.responding ? state : state + "+NOT_RESPONDING";
}

std::string tres(int cpus, std::uint64_t memory_mib, int nodes, int gpus) {
  std::string text = fmt::format("cpu={}", cpus);
  if (memory_mib > 0) text += ",mem=" + slurm::format_memory(memory_mib);
  if (nodes > 0) text += fmt::format(",node={}", nodes);
  text += fmt::format(",billing={}", cpus);
  if (gpus > 0) text += fmt::format(",gres/gpu={}", gpus);
  return text;
}

std::vector<std::string> lines_of(const Node& node) {
  const auto& view = node.view;
  std::vector<std::string> lines{
      fmt::format("NodeName={}{} CoresPerSocket={} ",
                  node.name,
                  node.arch.empty() ? "" : " Arch=" + node.arch,
                  node.cores),
      fmt::format("CPUAlloc={} CPUEfctv={} CPUTot={} CPULoad={}",
                  view.used,
                  view.total,
                  view.total,
                  node.load ? fmt::format("{:.2f}", *node.load) : "N/A"),
      "AvailableFeatures=" + slurm::or_null(node.features),
      "ActiveFeatures=" + slurm::or_null(node.features),
      node.gpus > 0 ? fmt::format("Gres=gpu:{}", node.gpus) : "Gres=(null)",
      fmt::format("NodeAddr={} NodeHostName={} ", node.name, node.name),
      fmt::format("RealMemory={} AllocMem=0 FreeMem={} Sockets={} Boards=1",
                  node.memory_mib,
                  node.free_mib > 0 ? std::to_string(node.free_mib) : "N/A",
                  node.sockets),
      fmt::format("State={} ThreadsPerCore={} TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A",
                  state_of(view),
                  node.threads),
      "Partitions=" + join(node.partitions, ",") + " ",
      "BootTime=None SlurmdStartTime=None",
      "LastBusyTime=Unknown",
      "CfgTRES=" + tres(view.total, node.memory_mib, 0, node.gpus),
      view.used > 0
          ? fmt::format("AllocTRES=cpu={}{}",
                        view.used,
                        node.gpus_used > 0 ? fmt::format(",gres/gpu={}", node.gpus_used) : "")
          : "AllocTRES=",
      "CapWatts=n/a",
      "CurrentWatts=0 AveWatts=0",
      "ExtSensorsJoules=n/s ExtSensorsWatts=0 ExtSensorsTemp=n/s",
  };
  if (!node.reason.empty()) lines.push_back("Reason=" + node.reason);
  return lines;
}

std::string limit_or(std::optional<int> minutes, std::string_view none) {
  return minutes ? slurm::format_time_limit(static_cast<std::uint32_t>(*minutes))
                 : std::string(none);
}

std::vector<std::string> lines_of(const Cluster& all, const Partition& partition) {
  std::vector<std::string> names;
  int cpus = 0, gpus = 0;
  std::uint64_t memory = 0;
  for (const auto& [index, view] : partition.nodes) {
    const auto& node = all.nodes[index];
    names.push_back(node.name);
    cpus += view.total;
    gpus += node.gpus;
    memory += node.memory_mib;
  }
  const auto count = static_cast<int>(names.size());
  return {
      "PartitionName=" + partition.name,
      "AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL",
      fmt::format("AllocNodes=ALL Default={} QoS=N/A", partition.is_default ? "YES" : "NO"),
      fmt::format("DefaultTime={} DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO",
                  limit_or(partition.default_time_min, "NONE")),
      fmt::format("MaxNodes=UNLIMITED MaxTime={} MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED",
                  limit_or(partition.max_time_min, "UNLIMITED")),
      "Nodes=" + slurm::or_null(slurm::compress_hostlist(names)),
      "PriorityJobFactor=1 PriorityTier=1 RootOnly=NO ReqResv=NO OverSubscribe=NO",
      "OverTimeLimit=NONE PreemptMode=OFF",
      fmt::format("State={} TotalCPUs={} TotalNodes={} SelectTypeParameters=NONE",
                  partition.up ? "UP" : "DOWN",
                  cpus,
                  count),
      "JobDefaults=(null)",
      "DefMemPerNode=UNLIMITED MaxMemPerNode=UNLIMITED",
      "TRES=" + tres(cpus, memory, count, gpus),
  };
}

void print(context::Context& ctx, const Settings& settings, const std::vector<std::string>& lines) {
  if (settings.oneliner)
    ctx.out.write(join(lines, " ") + "\n");
  else
    ctx.out.write(join(lines, "\n   ") + "\n\n");
}

Result<Cluster> load(context::Context& ctx) {
  TRY(context::load_config(ctx));
  const Session session(ctx);
  return cluster::load(session.tools, ctx.config, true);
}

// Names that are not there. Beside a document that is read by a program they stand on stderr.
int tell_unknown(const context::Context& ctx,
                 const Settings& settings,
                 const std::vector<std::string>& messages,
                 bool beside_document) {
  if (messages.empty()) return slurm::k_exit_ok;
  for (const auto& message : messages)
    if (beside_document)
      tell(ctx, settings, message);
    else if (!settings.quiet)
      ctx.out.write(message + "\n");
  return slurm::k_exit_failure;
}

} // namespace

int show_nodes(context::Context& ctx, const Settings& settings, Words words) {
  const auto all = load(ctx);
  if (!all) return ctx.fail(all.error());
  std::vector<const Node*> nodes;
  std::vector<std::string> unknown;
  if (words.empty()) {
    for (const auto& node : all->nodes)
      nodes.push_back(&node);
  } else {
    const auto names = slurm::slurm_expand_hostlist(words[0]);
    if (!names) {
      tell(ctx, settings, names.error().message);
      return slurm::k_exit_failure;
    }
    for (const auto& name : *names) {
      if (const auto* node = all->find_node(name))
        nodes.push_back(node);
      else
        unknown.push_back("Node " + name + " not found");
    }
  }
  const bool document = (settings.json || settings.yaml) && (!nodes.empty() || words.empty());
  if (document)
    print_document(ctx, settings, nodes);
  else
    for (const auto* node : nodes)
      print(ctx, settings, lines_of(*node));
  return tell_unknown(ctx, settings, unknown, document);
}

int show_partitions(context::Context& ctx, const Settings& settings, Words words) {
  const auto all = load(ctx);
  if (!all) return ctx.fail(all.error());
  std::vector<const Partition*> partitions;
  std::vector<std::string> unknown;
  if (words.empty()) {
    for (const auto& partition : all->partitions)
      partitions.push_back(&partition);
  } else if (const auto* partition = all->find_partition(words[0])) {
    partitions.push_back(partition);
  } else {
    unknown.push_back("Partition " + words[0] + " not found");
  }
  const bool document = (settings.json || settings.yaml) && unknown.empty();
  if (document)
    print_document(ctx, settings, *all, partitions);
  else
    for (const auto* partition : partitions)
      print(ctx, settings, lines_of(*all, *partition));
  if (!document && words.empty() && partitions.empty())
    ctx.out.write("No partitions in the system\n");
  return tell_unknown(ctx, settings, unknown, document);
}

} // namespace shim::commands::scontrol
