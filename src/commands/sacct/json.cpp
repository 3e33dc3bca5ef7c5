#include "table.h"

#include "slurm_shim/base/strings.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>

namespace shim::commands::sacct {

namespace {

using Json = nlohmann::ordered_json;

// Slurm's way to write a number that may be unset or without bounds.
Json number(std::int64_t value, bool set = true, bool infinite = false) {
  return {{"set", set && !infinite}, {"infinite", infinite}, {"number", set ? value : 0}};
}

Json exit_json(const history::ExitCode& exit, bool ended) {
  const char* status = !ended             ? "PENDING"
                       : exit.signal != 0 ? "SIGNALED"
                       : exit.code != 0   ? "ERROR"
                                          : "SUCCESS";
  return {{"status", Json::array({status})},
          {"return_code", number(exit.code, ended)},
          {"signal",
           {{"id", number(exit.signal, exit.signal != 0)},
            {"name", exit.signal != 0 ? std::to_string(exit.signal) : ""}}}};
}

Json cpu_json(double seconds) {
  const auto whole = std::floor(seconds);
  return {{"seconds", static_cast<std::int64_t>(whole)},
          {"microseconds", std::llround((seconds - whole) * 1e6)}};
}

std::string state_word(const Row& row) {
  auto text = state_text(row);
  return text.substr(0, text.find(' '));
}

Json tres_json(int cpus, int nodes, std::uint64_t memory_mib, int gpus) {
  Json list = Json::array();
  const auto add = [&](const char* type, const char* name, int id, std::int64_t count) {
    if (count > 0) list.push_back({{"type", type}, {"name", name}, {"id", id}, {"count", count}});
  };
  add("cpu", "", 1, cpus);
  add("mem", "", 2, static_cast<std::int64_t>(memory_mib));
  add("node", "", 4, nodes);
  add("billing", "", 5, cpus);
  add("gres", "gpu", 1001, gpus);
  return list;
}

Json step_json(const history::Entry& job, const history::Step& step, const Setting& setting) {
  const Row row{job, &step, setting};
  const auto elapsed = step.start == 0 ? 0 : (step.end != 0 ? step.end : setting.now) - step.start;
  return {
      {"time",
       {{"elapsed", elapsed},
        {"start", number(step.start)},
        {"end", number(step.end, step.end != 0)}}},
      {"exit_code", exit_json(step.exit.value_or(history::ExitCode{}), step.end != 0)},
      {"nodes",
       {{"count", step.nodes}, {"range", step.hosts}, {"list", Json::array({step.hosts})}}},
      {"tasks", {{"count", step.ntasks}}},
      {"CPU", {{"requested_frequency", Json::object()}, {"governor", "0"}}},
      {"state", Json::array({state_word(row)})},
      {"step", {{"id", std::to_string(job.id) + "." + step.id}, {"name", step.name}}},
      {"tres", {{"allocated", tres_json(step.cpus, step.nodes, 0, 0)}}},
  };
}

Json array_json(const history::Entry& job) {
  Json array{{"job_id", job.indices.empty() ? 0 : job.job},
             {"limits", {{"max", {{"running", {{"tasks", 0}}}}}}}};
  const bool single = !job.together && job.indices.size() == 1;
  array["task_id"] = number(single ? job.indices.front() : 0, single);
  const auto bracket = job.shown_id.find('[');
  array["task"] = bracket == std::string::npos
                      ? ""
                      : job.shown_id.substr(bracket + 1, job.shown_id.size() - bracket - 2);
  return array;
}

Json job_json(const history::Entry& job, const Setting& setting) {
  const Row row{job, nullptr, setting};
  const bool ended = !job.live;
  const bool limited = job.limit_min != slurm::k_unlimited_minutes;
  Json json{
      {"account", job.account},
      {"comment", {{"administrator", ""}, {"job", job.comment}, {"system", ""}}},
      {"allocation_nodes", job.start != 0 ? job.nodes : 0},
      {"array", array_json(job)},
      {"association",
       {{"account", job.account},
        {"cluster", setting.cluster},
        {"partition", ""},
        {"user", job.user},
        {"id", 0}}},
      {"block", ""},
      {"cluster", setting.cluster},
      {"constraints", ""},
      {"container", ""},
      {"derived_exit_code", exit_json(job.derived, ended)},
      {"exit_code", exit_json(job.ending.exit, ended)},
      {"failed_node", ""},
      {"flags", Json::array()},
      {"group", job.group},
      {"het", {{"job_id", 0}, {"job_offset", number(0, false)}}},
      {"job_id", job.id},
      {"name", job.name},
      {"licenses", ""},
      {"nodes", job.hosts.empty() ? "None assigned" : job.hosts},
      {"partition", job.partition},
      {"hold", job.ending.reason == "JobHeldUser"},
      {"priority", number(0)},
      {"qos", job.qos.empty() ? "normal" : job.qos},
      {"restart_cnt", job.restarts},
      {"required",
       {{"CPUs", job.cpus},
        {"memory_per_cpu",
         number(static_cast<std::int64_t>(job.memory_mib),
                job.memory_per == "cpu" && job.memory_mib != 0)},
        {"memory_per_node",
         number(static_cast<std::int64_t>(job.memory_mib),
                job.memory_per == "node" && job.memory_mib != 0)}}},
      {"kill_request_user", job.ending.cancelled_by},
      {"script", ""},
      {"stdin_expanded", job.input},
      {"stdout", job.output},
      {"stderr", job.error},
      {"state", {{"current", Json::array({state_word(row)})}, {"reason", job.ending.reason}}},
      {"submit_line", job.submit_line},
      {"used_gres", ""},
      {"user", job.user},
      {"working_directory", job.work_dir},
  };
  json["time"] = {{"elapsed", job.elapsed(setting.now)},
                  {"eligible", job.eligible},
                  {"end", job.end},
                  {"start", job.start},
                  {"submission", job.submit},
                  {"suspended", 0},
                  {"system", cpu_json(job.system_cpu)},
                  {"limit", number(limited ? job.limit_min : 0, true, !limited)},
                  {"total", cpu_json(job.total_cpu)},
                  {"user", cpu_json(job.user_cpu)}};
  json["tres"] = {{"allocated", tres_json(job.cpus, job.start != 0 ? job.nodes : 0, 0, job.gpus)},
                  {"requested", tres_json(job.cpus, job.nodes, job.memory_mib, job.gpus)}};
  json["steps"] = Json::array();
  for (const auto& step : job.steps)
    json["steps"].push_back(step_json(job, step, setting));
  return json;
}

} // namespace

std::string to_json(const std::vector<history::Entry>& jobs,
                    const Setting& setting,
                    const std::string& version) {
  Json document{{"jobs", Json::array()}};
  for (const auto& job : jobs)
    document["jobs"].push_back(job_json(job, setting));
  std::array<std::string, 3> parts;
  std::size_t at = 0;
  for (const auto part : split(version, '.'))
    if (at < parts.size()) parts[at++] = part;
  document["meta"] = {
      {"plugin",
       {{"type", ""},
        {"name", ""},
        {"data_parser", "data_parser/v0.0.41"},
        {"accounting_storage", ""}}},
      {"command", Json::array({"sacct"})},
      {"slurm",
       {{"version", {{"major", parts[0]}, {"micro", parts[2]}, {"minor", parts[1]}}},
        {"release", version},
        {"cluster", setting.cluster}}}};
  document["errors"] = Json::array();
  document["warnings"] = Json::array();
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace shim::commands::sacct
