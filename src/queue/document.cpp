#include "slurm_shim/queue/document.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/queue/shown.h"
#include "slurm_shim/slurm/hostlist.h"
#include "slurm_shim/slurm/signals.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace shim::queue {

namespace {

using Json = nlohmann::ordered_json;

Json number(std::int64_t value, bool is_set = true) {
  return {{"set", is_set}, {"infinite", false}, {"number", is_set ? value : 0}};
}

Json infinite() {
  return {{"set", false}, {"infinite", true}, {"number", 0}};
}

Json limit_of(const Job& job) {
  return job.limit_min == slurm::k_unlimited_minutes ? infinite() : number(job.limit_min);
}

Json exit_of(int code, int signal) {
  Json status = Json::array({signal != 0 ? "SIGNALED" : code != 0 ? "ERROR" : "SUCCESS"});
  return {{"status", std::move(status)},
          {"return_code", number(code)},
          {"signal",
           {{"id", number(signal, signal != 0)},
            {"name", signal != 0 ? slurm::signal_name(signal) : ""}}}};
}

// Slurm has whole numbers of CPUs on each node.
Json resources_of(const Job& job) {
  if (job.pending() || job.hosts.empty()) return nullptr;
  Json nodes = Json::array();
  for (const auto& share : shares_of(job)) {
    nodes.push_back({{"index", nodes.size()},
                     {"name", share.host},
                     {"cpus", {{"count", share.cpus}, {"used", share.cpus}}},
                     {"memory", {{"used", 0}, {"allocated", share.memory_mib}}},
                     {"sockets", Json::array()}});
  }
  return {{"select_type", Json::array({"AVAILABLE", "CPU"})},
          {"nodes",
           {{"count", job.hosts.size()},
            {"select_type", Json::array({"AVAILABLE"})},
            {"list", slurm::compress_hostlist(job.hosts)},
            {"whole", job.asked("excl") == "1"},
            {"allocation", std::move(nodes)}}},
          {"cpus", job.cpus},
          {"threads_per_core", number(1)}};
}

void add_identity(const Job& job, const DocumentHead& at, Json& out) {
  const bool single = job.array() && !job.together && job.indices.size() == 1;
  out["account"] = job.account;
  out["allocating_node"] = job.submit_host;
  out["array_job_id"] = number(job.array() ? static_cast<std::int64_t>(job.job) : 0);
  out["array_task_id"] = number(single ? job.indices[0] : 0, single);
  out["array_max_tasks"] = number(job.throttle);
  out["array_task_string"] = job.array() && !single ? display_index(job) : "";
  out["association_id"] = 0;
  out["batch_features"] = "";
  out["batch_flag"] = true;
  out["batch_host"] = job.hosts.empty() ? "" : job.hosts.front();
  out["flags"] = Json::array();
  out["cluster"] = at.cluster;
  out["cluster_features"] = "";
  out["command"] = job.command;
  out["comment"] = job.comment;
  out["container"] = "";
  out["contiguous"] = false;
  out["dependency"] = job.dependency;
  out["het_job_id"] = number(0);
  out["het_job_id_set"] = "";
  out["het_job_offset"] = number(0);
  out["job_id"] = job.id;
  out["name"] = job.name;
  out["partition"] = job.partition;
  out["group_id"] = job.gid.value_or(0);
  out["group_name"] = job.group;
  out["user_id"] = job.uid.value_or(0);
  out["user_name"] = job.user;
  out["qos"] = job.asked("qos").empty() ? "normal" : job.asked("qos");
  out["wckey"] = "";
}

void add_times(const Job& job, const DocumentHead& at, Json& out) {
  const auto start = start_of(job, at.now);
  out["accrue_time"] = number(job.submit);
  out["eligible_time"] = number(std::max(job.submit, job.begin));
  out["submit_time"] = number(job.submit);
  out["start_time"] = number(start);
  out["end_time"] = number(end_of(job));
  out["deadline"] = number(0);
  out["last_sched_evaluation"] = number(std::max(job.start, job.submit));
  out["pre_sus_time"] = number(0);
  out["preempt_time"] = number(0);
  out["resize_time"] = number(0);
  out["suspend_time"] = number(0);
  out["time_limit"] = limit_of(job);
  out["time_minimum"] = number(0);
}

void add_state(const Job& job, Json& out) {
  out["job_state"] = Json::array({slurm::long_name(job.state)});
  out["state_description"] = "";
  out["state_reason"] = job.reason;
  out["exit_code"] = exit_of(job.exit_code, job.exit_signal);
  out["derived_exit_code"] = exit_of(0, 0);
  out["hold"] = job.reason.starts_with("JobHeld") || job.reason == k_requeued_held;
  out["priority"] = number(priority_number(job));
  out["nice"] = parse_int<int>(job.asked("nice")).value_or(0);
  out["requeue"] = job.requeue;
  out["restart_cnt"] = job.restarts;
  out["reboot"] = false;
}

void add_resources(const Job& job, Json& out) {
  const auto memory = parse_int<std::int64_t>(job.asked("mem")).value_or(0);
  const auto per = job.asked("memper");
  out["cpus"] = number(job.cpus);
  out["node_count"] = number(job.nodes);
  out["tasks"] = number(job.ntasks);
  out["cpus_per_task"] = number(job.cpus_per_task);
  out["tasks_per_node"] = number(job.tasks_per_node, job.tasks_per_node > 0);
  out["threads_per_core"] = number(0, false);
  out["max_cpus"] = number(0);
  out["max_nodes"] = number(0);
  out["minimum_cpus_per_node"] = number(job.cpus_per_task);
  out["minimum_tmp_disk_per_node"] = number(0);
  out["memory_per_cpu"] = number(memory, memory > 0 && per == "cpu");
  out["memory_per_node"] = number(memory, memory > 0 && per == "node");
  out["nodes"] = slurm::compress_hostlist(job.hosts);
  out["required_nodes"] = job.requested_hosts;
  out["excluded_nodes"] = job.excluded_hosts;
  out["scheduled_nodes"] = "";
  out["features"] = job.asked("feat");
  out["licenses"] = job.asked("lic");
  out["resv_name"] = job.asked("resv");
  out["shared"] = Json::array();
  out["gres_detail"] = Json::array();
  out["tres_per_node"] = gres_per_node(job);
  out["tres_req_str"] = tres_of(job);
  out["tres_alloc_str"] = job.pending() ? "" : tres_of(job);
  out["job_resources"] = resources_of(job);
}

void add_files(const Job& job, Json& out) {
  out["standard_error"] = file_of(job, job.error);
  out["standard_input"] = job.input;
  out["standard_output"] = file_of(job, job.output);
  out["current_working_directory"] = job.work_dir;
}

Json head_of(const DocumentHead& head) {
  const auto parts = split(head.version, '.');
  const auto part = [&](std::size_t i) { return i < parts.size() ? std::string(parts[i]) : "0"; };
  return {{"plugin",
           {{"type", "openapi/slurmctld"},
            {"name", "slurm-shim"},
            {"data_parser", "data_parser/v0.0.41"},
            {"accounting_storage", ""}}},
          {"client", {{"source", ""}, {"user", head.user}, {"group", ""}}},
          {"command", head.words},
          {"slurm",
           {{"version", {{"major", part(0)}, {"micro", part(2)}, {"minor", part(1)}}},
            {"release", head.version},
            {"cluster", head.cluster}}}};
}

} // namespace

std::string jobs_document(const std::vector<const Job*>& jobs, const DocumentHead& head) {
  Json list = Json::array();
  for (const auto* job : jobs) {
    Json out;
    add_identity(*job, head, out);
    add_state(*job, out);
    add_times(*job, head, out);
    add_resources(*job, out);
    add_files(*job, out);
    list.push_back(std::move(out));
  }
  const Json document = {{"jobs", std::move(list)},
                         {"last_backfill", number(0)},
                         {"last_update", number(head.now)},
                         {"meta", head_of(head)},
                         {"errors", Json::array()},
                         {"warnings", Json::array()}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace shim::queue
