#include "slurm_shim/fabricate/variables.h"

#include "job_view.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/rle.h"

#include <algorithm>
#include <array>

namespace shim::fabricate {
namespace {

using Value = std::optional<std::string>;
using View = const JobView&;

Value text(std::string value) {
  return value.empty() ? Value{} : Value{std::move(value)};
}

Value number(std::int64_t value) {
  return std::to_string(value);
}

Value positive(std::int64_t value) {
  return value > 0 ? number(value) : Value{};
}

Value of_range(View v, std::int64_t ArrayIdentity::Range::*member) {
  return v.array && v.array->range ? number((*v.array->range).*member) : Value{};
}

// Slurm tells a job's number of tasks only when it was given; a job from plain qsub always has it.
Value ntasks(View v) {
  const bool told = !v.geometry.requested || v.asked("ntasks");
  return told ? number(v.geometry.ntasks) : Value{};
}

Value cpus_per_task(View v) {
  if (v.geometry.cpus_per_task > 0) return number(v.geometry.cpus_per_task);
  const bool emit = !v.geometry.requested && v.facts.config.emit_cpus_per_task;
  return emit ? number(1) : Value{};
}

// A job from sbatch has it when it was restarted; the engine says 0 or 1 to every job.
Value restart_count(View v) {
  return v.facts.record ? positive(v.facts.restart) : text(v.facts.env.get_or("RESTARTED", ""));
}

Value distribution(View v) {
  if (!v.facts.record) return "block";
  const auto asked = v.asked("dist");
  return asked ? asked->substr(0, asked->find('=')) : Value{};
}

Value plane_size(View v) {
  const auto asked = v.asked("dist").value_or("");
  const auto eq = asked.find('=');
  return eq == std::string::npos ? Value{} : Value{asked.substr(eq + 1)};
}

Value gpu_list(View v) {
  return text(join(v.gpus.front(), ","));
}

// Tells batch-exec which mask is the job's own, whatever the user's environment has.
Value mask_name(View v) {
  return v.gpus.front().empty() ? Value{} : text(v.facts.device_variable);
}

// sbatch: the number of --gpus-per-node, but not of --gres. Plain qsub: what all hosts were
// granted.
Value gpus_per_node(View v) {
  if (v.facts.record) {
    const bool by_gres = v.asked("tres").value_or("").find("gpu") != std::string::npos;
    return by_gres ? Value{} : v.asked("gpn");
  }
  const auto count = v.gpus.front().size();
  const bool even = std::all_of(
      v.gpus.begin(), v.gpus.end(), [&](const auto& gpus) { return gpus.size() == count; });
  return even ? positive(static_cast<std::int64_t>(count)) : Value{};
}

Value memory_per(View v, std::string_view what) {
  return v.asked("memper") == what ? v.asked("mem") : Value{};
}

// --export as given: srun takes it as its own default.
Value export_given(View v) {
  const auto asked = v.asked("export");
  return asked && *asked != "ALL" ? asked : Value{};
}

Value when_from_sbatch(View v, std::string value) {
  return v.facts.record ? Value{std::move(value)} : Value{};
}

Value zero(View) {
  return "0";
}

struct Row {
  std::string_view name;
  Value (*value)(View); // nullptr: only unset, set elsewhere or not at all
  // srun reads it as an option: what the user has set himself stays where the job says nothing.
  bool option = false;
};

Value cluster_name(View v) {
  const auto name = v.facts.env.get_or("SGE_CLUSTER_NAME", "");
  return text(name.empty() ? v.facts.env.get_or("SGE_CELL", "") : name);
}

Value node_count(View v) {
  return number(static_cast<std::int64_t>(v.names.size()));
}

Value master_address(View v) {
  return v.facts.config.export_master_addr ? text(v.names.front()) : Value{};
}

Value master_port(View v) {
  return v.facts.config.export_master_addr ? number(v.master_port) : Value{};
}

constexpr auto k_rows = std::to_array<Row>({
    {"SLURM_JOB_ID", [](View v) { return number(v.slurm_id); }},
    {"SLURM_JOBID", [](View v) { return number(v.slurm_id); }},
    {"SLURM_JOB_NAME", [](View v) { return text(v.name); }},
    {"SLURM_ARRAY_JOB_ID", [](View v) { return v.array ? number(v.job) : Value{}; }},
    {"SLURM_ARRAY_TASK_ID", [](View v) { return v.array ? number(v.array->index) : Value{}; }},
    {"SLURM_ARRAY_TASK_MIN", [](View v) { return of_range(v, &ArrayIdentity::Range::min); }},
    {"SLURM_ARRAY_TASK_MAX", [](View v) { return of_range(v, &ArrayIdentity::Range::max); }},
    {"SLURM_ARRAY_TASK_STEP", [](View v) { return of_range(v, &ArrayIdentity::Range::step); }},
    {"SLURM_ARRAY_TASK_COUNT", [](View v) { return of_range(v, &ArrayIdentity::Range::count); }},
    {"SLURM_ARRAY_BASE", nullptr},
    {"SLURM_ARRAY_STEP", nullptr},
    {"SLURM_JOB_NUM_NODES", node_count},
    {"SLURM_NNODES", node_count},
    {"SLURM_JOB_NODELIST", [](View v) { return text(v.nodelist); }},
    {"SLURM_NODELIST", [](View v) { return text(v.nodelist); }},
    {"SLURM_TASKS_PER_NODE",
     [](View v) { return text(slurm::compress_counts(v.geometry.per_node)); }},
    {"SLURM_NTASKS", ntasks},
    {"SLURM_NPROCS", ntasks},
    {"SLURM_NTASKS_PER_NODE",
     [](View v) { return v.ntasks_per_node ? number(*v.ntasks_per_node) : Value{}; }},
    {"SLURM_CPUS_PER_TASK", cpus_per_task},
    {"SLURM_JOB_CPUS_PER_NODE", [](View v) { return text(slurm::compress_counts(v.slots())); }},
    {"SLURM_CPUS_ON_NODE", [](View v) { return number(v.facts.hosts.front().slots); }},
    {"SLURM_JOB_PARTITION", [](View v) { return text(v.partition); }},
    {"SLURM_JOB_ACCOUNT", [](View v) { return text(v.account); }},
    {"SLURM_JOB_QOS", [](View v) { return v.asked("qos"); }},
    {"SLURM_SUBMIT_DIR", [](View v) { return text(v.submit_dir); }},
    {"SLURM_SUBMIT_HOST", [](View v) { return text(v.submit_host); }},
    {"SLURM_CLUSTER_NAME", cluster_name},
    {"SLURM_JOB_USER", [](View v) { return text(v.facts.user); }},
    {"SLURM_JOB_UID", [](View v) { return number(v.facts.uid); }},
    {"SLURM_JOB_GID", [](View v) { return number(v.facts.gid); }},
    {"SLURM_RESTART_COUNT", restart_count},
    {"SLURM_DISTRIBUTION", distribution},
    {"SLURM_DIST_PLANESIZE", plane_size},
    {"SLURM_LAUNCH_NODE_IPADDR", [](View v) { return text(v.facts.master_ip); }},
    {"SLURM_NODEID", zero},
    {"SLURM_PROCID", zero},
    {"SLURM_LOCALID", zero},
    {"SLURM_GTIDS", zero},
    {"SLURM_GPUS_ON_NODE",
     [](View v) { return positive(static_cast<std::int64_t>(v.gpus.front().size())); }},
    {"SLURM_JOB_GPUS", gpu_list},
    {"SLURM_SHIM_GPU_VARIABLE", mask_name},
    {"SLURM_GPUS_PER_NODE", gpus_per_node},
    {"SLURM_GPUS", [](View v) { return v.asked("gpus"); }},
    {"SLURM_GPUS_PER_TASK", [](View v) { return v.asked("gpt"); }},
    {"SLURM_CPUS_PER_GPU", [](View v) { return v.asked("cpg"); }},
    {"SLURM_NTASKS_PER_GPU", [](View v) { return v.asked("tpg"); }},
    {"SLURM_NTASKS_PER_CORE", [](View v) { return v.asked("npcore"); }, true},
    {"SLURM_NTASKS_PER_SOCKET", [](View v) { return v.asked("npsocket"); }, true},
    {"SLURM_THREADS_PER_CORE", [](View v) { return v.asked("tpcore"); }, true},
    {"SLURM_JOB_RESERVATION", [](View v) { return v.asked("resv"); }},
    {"SLURM_MEM_PER_NODE",
     [](View v) { return v.facts.record ? memory_per(v, "node") : positive(v.mem_per_node_mb); }},
    {"SLURM_MEM_PER_CPU", [](View v) { return memory_per(v, "cpu"); }},
    {"SLURM_MEM_PER_GPU", [](View v) { return memory_per(v, "gpu"); }},
    {"MASTER_ADDR", master_address},
    {"MASTER_PORT", master_port},
    {"SLURM_TASK_PID", nullptr},
    {"SLURMD_NODENAME", [](View v) { return when_from_sbatch(v, v.names.front()); }},
    {"SLURM_STEP_ID", nullptr},
    {"SLURM_STEPID", nullptr},
    {"SLURM_STEP_NODELIST", nullptr},
    {"SLURM_STEP_NUM_NODES", nullptr},
    {"SLURM_STEP_NUM_TASKS", nullptr},
    {"SLURM_STEP_TASKS_PER_NODE", nullptr},
    {"SLURM_STEP_GPUS", nullptr},
    {"SLURM_STEP_LAUNCHER_PORT", nullptr},
    {"SLURM_SRUN_COMM_HOST", nullptr},
    {"SLURM_SRUN_COMM_PORT", nullptr},
    {"SLURM_UMASK", nullptr},
    {"SLURM_SHIM_DIR", nullptr},
    {"SLURM_SHIM_REQ", nullptr},
    {"SLURM_SHIM_TOKEN", nullptr},
    {"SLURM_EXPORT_ENV", export_given, true},
    {"SLURM_GET_USER_ENV", [](View v) { return export_given(v) ? Value{"1"} : Value{}; }, true},
    {"SLURM_GPU_BIND", [](View v) { return v.asked("gbind"); }, true},
    {"SLURM_HINT", [](View v) { return v.asked("hint"); }, true},
    {"SLURM_GPU_BIND", [](View v) { return v.asked("gbind"); }, true},
    {"SLURM_OVERCOMMIT", [](View v) { return v.asked("over"); }, true},
    {"SLURM_OPEN_MODE",
     [](View v) { return v.asked("openmode") == "a" ? Value{"a"} : Value{}; },
     true},
});

constexpr auto k_unset_count = static_cast<std::size_t>(
    std::count_if(k_rows.begin(), k_rows.end(), [](const Row& row) { return !row.option; }));

constexpr auto k_unset = [] {
  std::array<std::string_view, k_unset_count> names{};
  std::size_t used = 0;
  for (const auto& row : k_rows)
    if (!row.option) names[used++] = row.name;
  return names;
}();

} // namespace

std::span<const std::string_view> job_variable_names() {
  return k_unset;
}

std::vector<std::pair<std::string, std::string>> make_exports(const JobView& view) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& row : k_rows)
    if (row.value != nullptr)
      if (auto value = row.value(view)) out.emplace_back(row.name, std::move(*value));
  // The script sees the devices of its host by one mask, as a rank does.
  if (mask_name(view)) out.emplace_back(view.facts.device_variable, *gpu_list(view));
  return out;
}

} // namespace shim::fabricate
