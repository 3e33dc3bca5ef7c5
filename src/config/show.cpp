#include "slurm_shim/config/show.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace shim::config {

namespace {

using Json = nlohmann::ordered_json;

class Values {
public:
  void add(std::string path, const Json& value) {
    m_out.push_back({std::move(path), value.dump(-1, ' ', false, Json::error_handler_t::replace)});
  }
  void time(std::string path, milliseconds value) {
    add(std::move(path),
        value.count() % 1000 == 0 ? fmt::format("{}s", value.count() / 1000)
                                  : fmt::format("{}ms", value.count()));
  }
  [[nodiscard]] std::vector<ShownValue> take() && { return std::move(m_out); }

private:
  std::vector<ShownValue> m_out;
};

std::string word(TaskPolicy policy) {
  return policy == TaskPolicy::slot ? "slot" : policy == TaskPolicy::gpu ? "gpu" : "node";
}

std::string word(Standalone standalone) {
  switch (standalone) {
  case Standalone::automatic: return "auto";
  case Standalone::allocate: return "allocate";
  case Standalone::local: return "local";
  case Standalone::reject: return "reject";
  }
  return "";
}

std::string minutes(const std::optional<int>& value) {
  return value ? fmt::format("{}:00", *value) : "UNLIMITED";
}

void add_partitions(const Config& config, Values& out) {
  for (const auto& partition : config.partitions) {
    const auto path = [&](const char* key) { return "partitions." + partition.name + "." + key; };
    out.add(path("queue"), partition.queue);
    out.add(path("pe"), partition.pe.empty() ? config.pe_name : partition.pe);
    out.add(path("slots"), partition.slots);
    out.add(path("default_time"), minutes(partition.default_time_min));
    out.add(path("max_time"), minutes(partition.max_time_min));
    out.add(path("slots_per_node"), partition.slots_per_node);
    out.add(path("gpus_per_node"), partition.gpus_per_node);
    out.add(path("default"), partition.is_default);
    const auto& layout = partition.pe_by_layout;
    out.add(path("pe_by_layout.pe_slots"), layout.pe_slots);
    out.add(path("pe_by_layout.fill_up"), layout.fill_up);
    out.add(path("pe_by_layout.round_robin"), layout.round_robin);
    Json fixed = Json::object();
    for (const auto& [slots, pe] : layout.fixed)
      fixed[std::to_string(slots)] = pe;
    out.add(path("pe_by_layout.fixed"), fixed);
  }
  out.add("partition_aliases", config.partition_aliases);
}

void add_launch(const Config& config, Values& out) {
  const auto& ports = config.control_port;
  out.add("launcher", config.launcher == Launcher::local ? "local" : "qrsh-inherit");
  out.add("standalone", word(config.standalone));
  out.add("launch_ramp", config.launch_ramp);
  out.time("launch_timeout", config.launch_timeout);
  out.add("control_port", ports.first == 0 ? "0" : fmt::format("{}-{}", ports.first, ports.last));
  out.add("control_address", config.control_address);
  out.time("ping_interval", config.ping_interval);
  out.time("ping_deadline", config.ping_deadline);
  out.add("kill_on_bad_exit", config.kill_on_bad_exit);
  out.time("kill_wait", config.kill_wait);
  out.add("cpu_bind", config.cpu_bind);
  out.add("export_master_addr", config.export_master_addr);
  out.add("master_port_base", config.master_port_base);
  out.add("master_port_range", config.master_port_range);
  out.add("default_task_policy", word(config.default_task_policy));
  for (const auto& [name, policy] : config.pe_task_policy)
    out.add("pes." + name + ".task_policy", word(policy));
  out.add("emit_cpus_per_task", config.emit_cpus_per_task);
}

void add_resources(const Config& config, Values& out) {
  const auto& gpu = config.gpu;
  out.add("gpu.gres_complex", gpu.gres_complex);
  out.add("gpu.vendor", gpu.vendor);
  out.add("gpu.discovery", gpu.discovery ? "qstat-gres" : "none");
  out.add("gpu.isolation", gpu.isolation_shim ? "shim" : "cgroup");
  out.add("gpu.bind", gpu.bind_per_task ? "per-task" : "none");
  out.add("gpu.consumable", gpu.consumable);
  out.add("gpu.types", gpu.types);
  out.add("memory_complex", config.memory_complex);
  out.add("memory_consumable", config.memory_consumable);
  out.add("tmp_complex", config.tmp_complex);
  out.add("exclusive_complex", config.exclusive_complex);
  out.add("features", config.features);
  out.add("licenses", config.licenses);
  out.add("gres_map", config.gres_map);
  out.add("qos", config.qos);
}

void add_jobs(const Config& config, Values& out) {
  out.add("strict_flags", config.strict_flags);
  out.add("array_job_ids", config.array_job_ids);
  out.add("submit_check", config.submit_check ? "error" : "none");
  out.add("job_name_sanitize", config.job_name_sanitize);
  out.add("honor_ge_directives", config.honor_ge_directives);
  out.add("qsub_extra_args", config.qsub_extra_args);
  out.add("requeue_default", config.requeue_default);
  out.add("reserve", config.reserve);
  out.add("account_map", config.account_map);
  out.add("afterok_check", config.afterok_check);
  out.add("job_records", config.job_records);
  out.add("batch_supervisor", config.batch_supervisor);
  out.add("env_transport", config.env_transport);
  out.add("output_mode", config.output_mode);
  out.add("scancel_signal", config.scancel_signal);
  out.add("squeue_unknown_job", config.squeue_unknown_job);
  out.add("accounting_source", config.accounting_source);
  out.time("qacct_deadline", config.qacct_deadline);
  out.time("qstat_timeout", config.qstat_timeout);
}

} // namespace

std::vector<ShownValue> effective_values(const Config& config) {
  Values out;
  out.add("compat_version", config.compat_version);
  out.add("pe_name", config.pe_name);
  out.add("default_partition", config.default_partition_name());
  add_partitions(config, out);
  add_launch(config, out);
  add_resources(config, out);
  add_jobs(config, out);
  return std::move(out).take();
}

} // namespace shim::config
