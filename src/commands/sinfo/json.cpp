#include "rows.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/hostlist.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace shim::commands::sinfo {

namespace {

using Json = nlohmann::ordered_json;
using slurm::NodeState;

Json number(std::optional<int> value) {
  return {{"set", value.has_value()}, {"infinite", !value}, {"number", value.value_or(0)}};
}

Json states_of(const cluster::View& view) {
  Json states = Json::array();
  switch (view.state) {
  case NodeState::drained: states = {"IDLE", "DRAIN"}; break;
  case NodeState::draining: states = {"MIXED", "DRAIN"}; break;
  default: states.push_back(to_upper(slurm::long_name(view.state)));
  }
  if (!view.responding) states.push_back("NOT_RESPONDING");
  return states;
}

bool unusable(NodeState state) {
  return state == NodeState::down || state == NodeState::drained || state == NodeState::draining;
}

Json row_json(const Row& row) {
  Json names = Json::array();
  int allocated = 0, idle = 0, other = 0, used = 0, free = 0, away = 0, most = 0;
  std::uint64_t least_memory = 0, most_memory = 0;
  int least_cpus = 0;
  for (const auto& member : row.members) {
    const auto& [node, view] = member;
    names.push_back(node->name);
    const bool busy = view->used > 0 && view->state != NodeState::down;
    ++(busy ? allocated : unusable(view->state) ? other : idle);
    used += view->used;
    (unusable(view->state) ? away : free) += std::max(0, view->total - view->used);
    least_cpus = least_cpus == 0 ? view->total : std::min(least_cpus, view->total);
    most = std::max(most, view->total);
    least_memory = least_memory == 0 ? node->memory_mib : std::min(least_memory, node->memory_mib);
    most_memory = std::max(most_memory, node->memory_mib);
  }
  Json json{
      {"port", 0},
      {"node",
       {{"state", row.members.empty() ? Json::array() : states_of(*row.members.front().view)}}},
      {"nodes",
       {{"allocated", allocated},
        {"idle", idle},
        {"other", other},
        {"total", row.members.size()},
        {"hostnames", names},
        {"addresses", names},
        {"nodes", names}}},
      {"cpus",
       {{"allocated", used},
        {"idle", free},
        {"other", away},
        {"total", used + free + away},
        {"minimum", least_cpus},
        {"maximum", most}}},
      {"memory", {{"minimum", least_memory}, {"maximum", most_memory}}},
  };
  const auto& partition = *row.partition;
  json["partition"] = {{"name", partition.name},
                       {"partition", {{"state", Json::array({partition.up ? "UP" : "DOWN"})}}},
                       {"maximums", {{"time", number(partition.max_time_min)}}},
                       {"defaults", {{"time", number(partition.default_time_min)}}}};
  const auto* first = row.members.empty() ? nullptr : row.members.front().node;
  json["gres"] = {
      {"total", first != nullptr && first->gpus > 0 ? "gpu:" + std::to_string(first->gpus) : ""},
      {"used",
       first != nullptr && first->gpus > 0 ? "gpu:" + std::to_string(first->gpus_used) : ""}};
  json["reason"] = {{"description", first != nullptr ? first->reason : ""}};
  return json;
}

} // namespace

std::string
to_json(const std::vector<Row>& rows, const std::string& version, const std::string& cluster) {
  Json document{{"sinfo", Json::array()}};
  for (const auto& row : rows)
    document["sinfo"].push_back(row_json(row));
  std::array<std::string, 3> parts;
  std::size_t at = 0;
  for (const auto part : split(version, '.'))
    if (at < parts.size()) parts[at++] = part;
  document["meta"] = {
      {"command", Json::array({"sinfo"})},
      {"slurm",
       {{"version", {{"major", parts[0]}, {"micro", parts[2]}, {"minor", parts[1]}}},
        {"release", version},
        {"cluster", cluster}}}};
  document["errors"] = Json::array();
  document["warnings"] = Json::array();
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace shim::commands::sinfo
