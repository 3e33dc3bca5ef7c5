#include "slurm_shim/base/plain_number.h"
#include "slurm_shim/layout/layout.h"

#include <nlohmann/json.hpp>

namespace shim::layout {
namespace {

using Json = nlohmann::ordered_json;

// Numbers as numbers, other ids as texts.
Json devices(const std::vector<std::string>& gpus) {
  Json out;
  for (const auto& id : gpus)
    if (const auto number = plain_number(id))
      out.push_back(*number);
    else
      out.push_back(id);
  return out;
}

Json job_json(const Job& job) {
  Json out;
  out["job_id"] = job.job_id;
  out["array_task_id"] = job.array_task_id ? Json(*job.array_task_id) : Json();
  out["name"] = job.name;
  out["user"] = job.user;
  out["uid"] = job.uid;
  out["gid"] = job.gid;
  out["queue"] = job.queue;
  out["partition"] = job.partition;
  out["account"] = job.account;
  out["submit_dir"] = job.submit_dir;
  out["submit_host"] = job.submit_host;
  out["pe_name"] = job.pe_name;
  out["task_policy"] = job.task_policy;
  out["mem_per_node_mb"] = job.mem_per_node_mb;
  return out;
}

Json node_json(const Node& node) {
  Json out;
  out["index"] = node.index;
  out["host"] = node.host;
  out["fqdn"] = node.engine_name();
  out["ip"] = node.ip;
  out["slots"] = node.slots;
  out["processor_range"] = node.processor_range;
  out["gpus"] = devices(node.gpus);
  out["is_master"] = node.is_master;
  return out;
}

Json tasks_json(const Tasks& tasks) {
  Json out;
  out["ntasks"] = tasks.ntasks;
  out["cpus_per_task"] = tasks.cpus_per_task;
  out["per_node"] = tasks.per_node;
  out["rank_map"] = Json::array();
  for (const auto& entry : tasks.rank_map) {
    Json rank;
    rank["rank"] = entry.rank;
    rank["node"] = entry.node;
    rank["local"] = entry.local;
    rank["gpus"] = devices(entry.gpus);
    rank["cpuset"] = entry.cpuset;
    out["rank_map"].push_back(std::move(rank));
  }
  return out;
}

} // namespace

std::string to_json(const Layout& layout) {
  Json out;
  out["schema_version"] = k_schema_version;
  out["shim_version"] = layout.shim_version;
  out["created_unix"] = layout.created_unix;
  out["job"] = job_json(layout.job);
  out["nodes"] = Json::array();
  for (const auto& node : layout.nodes)
    out["nodes"].push_back(node_json(node));
  out["tasks"] = tasks_json(layout.tasks);
  out["rendezvous"] = {{"master_addr", layout.master_addr}, {"master_port", layout.master_port}};
  out["launcher"] = layout.launcher;
  // Folders and names may hold any byte; JSON text may not.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace shim::layout
