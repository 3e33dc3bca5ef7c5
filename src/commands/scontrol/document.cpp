#include "scontrol.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/base/yaml.h"
#include "slurm_shim/cluster/cluster.h"
#include "slurm_shim/slurm/hostlist.h"

#include <nlohmann/json.hpp>

namespace shim::commands::scontrol {

namespace {

using Json = nlohmann::ordered_json;

Json number(std::optional<int> value) {
  return {{"set", value.has_value()}, {"infinite", !value}, {"number", value.value_or(0)}};
}

Json states_of(const cluster::View& view) {
  Json states = Json::array();
  switch (view.state) {
  case slurm::NodeState::drained: states = {"IDLE", "DRAIN"}; break;
  case slurm::NodeState::draining: states = {"MIXED", "DRAIN"}; break;
  default: states.push_back(to_upper(slurm::long_name(view.state)));
  }
  if (!view.responding) states.push_back("NOT_RESPONDING");
  return states;
}

Json node_json(const cluster::Node& node) {
  return {
      {"architecture", node.arch},
      {"name", node.name},
      {"address", node.name},
      {"hostname", node.name},
      {"state", states_of(node.view)},
      {"cpus", node.view.total},
      {"alloc_cpus", node.view.used},
      {"alloc_idle_cpus", node.view.total - node.view.used},
      {"sockets", node.sockets},
      {"cores", node.cores},
      {"threads", node.threads},
      {"real_memory", node.memory_mib},
      {"free_mem", {{"set", node.free_mib > 0}, {"infinite", false}, {"number", node.free_mib}}},
      {"gres", node.gpus > 0 ? "gpu:" + std::to_string(node.gpus) : ""},
      {"gres_used", node.gpus > 0 ? "gpu:" + std::to_string(node.gpus_used) : ""},
      {"features", node.features},
      {"partitions", node.partitions},
      {"reason", node.reason}};
}

Json partition_json(const cluster::Cluster& all, const cluster::Partition& partition) {
  std::vector<std::string> names;
  int cpus = 0;
  for (const auto& [index, view] : partition.nodes) {
    names.push_back(all.nodes[index].name);
    cpus += view.total;
  }
  return {{"name", partition.name},
          {"nodes", {{"configured", slurm::compress_hostlist(names)}, {"total", names.size()}}},
          {"cpus", {{"total", cpus}}},
          {"maximums", {{"time", number(partition.max_time_min)}}},
          {"defaults", {{"time", number(partition.default_time_min)}}},
          {"partition",
           {{"state", Json::array({partition.up ? "UP" : "DOWN"})},
            {"default", partition.is_default}}}};
}

void print_list(context::Context& ctx, const Settings& settings, std::string_view what, Json list) {
  const Json document{
      {std::string(what), std::move(list)}, {"errors", Json::array()}, {"warnings", Json::array()}};
  const auto text = document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  ctx.out.write(settings.json ? text : json_to_yaml(text));
}

} // namespace

void print_document(context::Context& ctx,
                    const Settings& settings,
                    const std::vector<const cluster::Node*>& nodes) {
  Json list = Json::array();
  for (const auto* node : nodes)
    list.push_back(node_json(*node));
  print_list(ctx, settings, "nodes", std::move(list));
}

void print_document(context::Context& ctx,
                    const Settings& settings,
                    const cluster::Cluster& all,
                    const std::vector<const cluster::Partition*>& partitions) {
  Json list = Json::array();
  for (const auto* partition : partitions)
    list.push_back(partition_json(all, *partition));
  print_list(ctx, settings, "partitions", std::move(list));
}

} // namespace shim::commands::scontrol
