#include "slurm_shim/fabricate/fabricate.h"

#include "job_view.h"
#include "shell_quote.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/fabricate/variables.h"
#include "slurm_shim/rankenv/rankenv.h"
#include "slurm_shim/slurm/hostlist.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace shim::fabricate {
namespace {

// What would mislead every program that reads it must not leave the hook.
Result<void> check(const JobView& view) {
  constexpr std::string_view k_allowed = "[](),.:=_-";
  const bool clean = std::all_of(view.nodelist.begin(), view.nodelist.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           k_allowed.find(c) != std::string_view::npos;
  });
  if (!clean)
    return fail(ErrorKind::malformed,
                fmt::format("host names with characters that a node list cannot hold: {}",
                            sanitize_utf8(view.nodelist)));
  TRY_ASSIGN(const auto hosts, slurm::expand_hostlist(view.nodelist));
  if (hosts != view.names)
    return fail(ErrorKind::malformed,
                fmt::format("the node list {} does not stand for the {} hosts of the job",
                            view.nodelist,
                            view.names.size()));
  const auto& geometry = view.geometry;
  const int tasks = std::accumulate(geometry.per_node.begin(), geometry.per_node.end(), 0);
  if (geometry.per_node.size() != view.names.size() || tasks != geometry.ntasks || tasks < 1)
    return fail(ErrorKind::malformed,
                fmt::format("{} tasks do not lie on {} hosts", geometry.ntasks, view.names.size()));
  return {};
}

layout::Job layout_job(const JobView& view) {
  layout::Job job;
  job.job_id = view.job;
  if (view.array) job.array_task_id = view.array->task;
  job.name = view.name;
  job.user = view.facts.user;
  job.uid = view.facts.uid;
  job.gid = view.facts.gid;
  job.queue = view.queue;
  job.partition = view.partition;
  job.account = view.account;
  job.submit_dir = view.submit_dir;
  job.submit_host = view.submit_host;
  job.pe_name = view.facts.env.get_or("PE", "");
  job.task_policy = view.geometry.policy;
  job.mem_per_node_mb = view.mem_per_node_mb;
  return job;
}

layout::Node layout_node(const JobView& view, std::size_t position) {
  const auto& host = view.facts.hosts[position];
  layout::Node node;
  node.index = static_cast<int>(position);
  node.host = view.names[position];
  node.fqdn = host.name;
  if (position == 0) node.ip = view.facts.master_ip;
  node.slots = host.slots;
  node.processor_range = host.processor_range;
  node.gpus = view.gpus[position];
  node.is_master = position == 0;
  return node;
}

layout::Tasks layout_tasks(const JobGeometry& geometry) {
  layout::Tasks tasks;
  tasks.ntasks = geometry.ntasks;
  tasks.cpus_per_task = geometry.cpus_per_task;
  tasks.per_node = geometry.per_node;
  const int cpus = std::max(1, geometry.cpus_per_task);
  for (std::size_t node = 0; node < geometry.per_node.size(); ++node)
    for (int local = 0; local < geometry.per_node[node]; ++local)
      tasks.rank_map.push_back({static_cast<int>(tasks.rank_map.size()),
                                static_cast<int>(node),
                                local,
                                {},
                                fmt::format("{}-{}", local * cpus, (local + 1) * cpus - 1)});
  return tasks;
}

layout::Layout make_layout(const JobView& view) {
  layout::Layout out;
  out.shim_version = view.facts.shim_version;
  out.created_unix = view.facts.now_unix;
  out.job = layout_job(view);
  for (std::size_t i = 0; i < view.names.size(); ++i)
    out.nodes.push_back(layout_node(view, i));
  out.tasks = layout_tasks(view.geometry);
  out.master_addr = view.names.front();
  out.master_port = view.master_port;
  out.launcher = view.facts.config.launcher == config::Launcher::local ? "local" : "qrsh-inherit";
  return out;
}

std::string export_line(std::string_view name, std::string_view value) {
  return fmt::format("export {}={}\n", name, shell_quote(value));
}

// Masks that the job was submitted with would stack on its own: they go where devices were granted,
// and are left alone where the engine's cgroups choose (decision 15).
std::string mask_unset_text(const JobView& view) {
  const bool granted = std::any_of(
      view.gpus.begin(), view.gpus.end(), [](const auto& gpus) { return !gpus.empty(); });
  std::string out;
  if (!granted || view.facts.device_variable.empty()) return out;
  for (const auto name : rankenv::device_mask_variables())
    out += fmt::format("unset {}\n", name);
  return out;
}

std::string environment_text(const JobView& view,
                             const std::vector<std::pair<std::string, std::string>>& exports) {
  const auto& facts = view.facts;
  auto out = unset_text() + mask_unset_text(view);
  if (!facts.bin_directory.empty())
    out += fmt::format("export PATH={}${{PATH:+:\"$PATH\"}}\n", shell_quote(facts.bin_directory));
  if (!facts.job_folder.empty()) out += export_line("SLURM_SHIM_DIR", facts.job_folder);
  for (const auto& [name, value] : exports)
    out += export_line(name, value);
  return out;
}

} // namespace

Result<std::vector<ge::GrantedHost>> granted_hosts(const EnvList& env,
                                                   const std::optional<std::string>& hostfile,
                                                   const std::string& own_host) {
  if (hostfile) {
    TRY_ASSIGN(auto hosts, ge::parse_pe_hostfile(*hostfile));
    ge::order_hosts(hosts, own_host);
    return hosts;
  }
  const auto count = env.get_or("NHOSTS", "1");
  if (parse_int<int>(count).value_or(0) > 1)
    return fail(ErrorKind::malformed,
                fmt::format("NHOSTS is {}, but there is no PE_HOSTFILE", count));
  const auto slots = env.get_or("NSLOTS", "1");
  const auto number = parse_int<int>(slots);
  if (!number || *number < 1)
    return fail(ErrorKind::malformed, fmt::format("NSLOTS is no number of slots: \"{}\"", slots));
  return std::vector<ge::GrantedHost>{{own_host, *number, "", ""}};
}

Need job_detail_need(const JobFacts& facts) {
  Need need;
  if (engine_job(facts.env) < 1) return need;
  const bool shown = facts.env.has("SGE_HGR_" + facts.config.gpu.gres_complex);
  const auto asked = [&](std::string_view key) { return facts.record && facts.record->has(key); };
  const bool possible =
      shown || !facts.record || asked("gpus") || asked("gpn") || asked("gpt") || asked("tres");
  // On a job's only host the engine's variable is right and spares the call.
  need.gpus = facts.config.gpu.discovery && possible && !(shown && facts.hosts.size() == 1);
  need.memory = !facts.record && !facts.config.memory_complex.empty();
  return need;
}

std::vector<std::string> detail_warnings(const Need& need, const Error& error) {
  std::vector<std::string> out;
  if (need.gpus)
    out.push_back(fmt::format("GPU discovery failed ({}); continuing without GPU environment",
                              error.message));
  if (need.memory)
    out.push_back(
        fmt::format("memory discovery failed ({}); omitting SLURM_MEM_PER_NODE", error.message));
  return out;
}

std::string unset_text() {
  std::string out;
  for (const auto name : job_variable_names())
    out += fmt::format("unset {}\n", name);
  return out;
}

Result<Fabricated> fabricate(const JobFacts& facts) {
  Fabricated out;
  TRY_ASSIGN(const auto view, make_view(facts, out.warnings));
  TRY(check(view));
  out.exports = make_exports(view);
  out.layout = make_layout(view);
  out.environment = environment_text(view, out.exports);
  return out;
}

} // namespace shim::fabricate
