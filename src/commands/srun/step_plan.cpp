#include "step_plan.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/rankenv/rankenv.h"
#include "slurm_shim/slurm/hostlist.h"

#include <algorithm>

#include <sys/stat.h>

namespace shim::commands::srun {

namespace {

// The only way to read it is to set it.
unsigned current_umask() {
  const auto mask = ::umask(077);
  ::umask(mask);
  return mask;
}

Error placement_error(Error error, std::int64_t job) {
  if (error.kind == ErrorKind::refused)
    return std::move(error).context("Unable to create step for job " + std::to_string(job));
  return error;
}

void fill_hosts(StepPlan& plan) {
  const auto& nodes = plan.ground.layout.nodes;
  for (const auto& placed : plan.placement.nodes) {
    const auto& node = nodes[static_cast<std::size_t>(placed.allocation_index)];
    const bool remote = plan.ground.any_remote_possible && placed.allocation_index != 0;
    plan.hosts.push_back({node.host, node.engine_name(), remote, {}});
    plan.any_remote = plan.any_remote || remote;
  }
  for (const auto& rank : plan.placement.ranks)
    plan.hosts[static_cast<std::size_t>(slurm::to_int(rank.node))].ranks.push_back(
        slurm::to_int(rank.rank));
}

std::string tasks_directory(const StepPlan& plan) {
  return plan.request.chdir.empty() ? plan.cwd : posix::absolute(plan.request.chdir, plan.cwd);
}

void fill_routes(context::Context& ctx, StepPlan& plan) {
  const auto& job = plan.ground.layout.job;
  mux::PatternFields fields;
  fields.job_id = plan.ground.slurm_job_id;
  fields.array_job_id = job.job_id;
  if (plan.ground.batch && plan.ground.batch->index)
    fields.array_task_id = *plan.ground.batch->index;
  else
    fields.array_task_id = parse_int<std::int64_t>(plan.env.get_or("SLURM_ARRAY_TASK_ID", ""));
  fields.step_id = plan.step_id;
  fields.job_name = job.name;
  const auto& request = plan.request;
  const bool has_files = !request.output.empty() || !request.error.empty();
  if (has_files) fields.user = job.user.empty() ? posix::user_name(ctx.runner, plan.env) : job.user;
  std::vector<RankPlace> places;
  for (const auto& rank : plan.placement.ranks) {
    const int node = slurm::to_int(rank.node);
    places.push_back(
        {slurm::to_int(rank.rank), node, plan.hosts[static_cast<std::size_t>(node)].name});
  }
  plan.routes = plan_output({request.output,
                             request.error,
                             request.label,
                             request.open_append,
                             plan.cwd,
                             tasks_directory(plan)},
                            fields,
                            places);
}

// The one variable that masks devices, or "".
std::string gpu_variable(const config::GpuConfig& gpu) {
  if (!gpu.isolation_shim) return {};
  if (gpu.vendor == "amd") return "ROCR_VISIBLE_DEVICES";
  const bool looks_amd =
      gpu.vendor == "auto" && posix::exists("/dev/kfd") && !posix::exists("/dev/nvidiactl");
  return looks_amd ? "ROCR_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES";
}

bool has_granted_devices(const layout::Layout& layout) {
  return std::any_of(layout.nodes.begin(), layout.nodes.end(), [](const auto& node) {
    return !node.gpus.empty();
  });
}

rankenv::StepFacts step_facts(const StepPlan& plan, const ControlAddress& control) {
  rankenv::StepFacts facts;
  facts.step_id = plan.step_id;
  std::vector<std::string> names;
  for (const auto& host : plan.hosts) {
    names.push_back(host.name);
    facts.tasks_per_node.push_back(static_cast<int>(host.ranks.size()));
  }
  facts.nodelist = slurm::compress_hostlist(names);
  const auto& placement = plan.request.placement;
  if (placement.cpus_per_task > 0 || plan.ground.layout.tasks.cpus_per_task > 0)
    facts.cpus_per_task = plan.placement.cpus_per_task;
  facts.ntasks_per_node_given = placement.ntasks_per_node > 0;
  facts.launch_node_ip = plan.ground.layout.nodes[0].ip;
  facts.comm_host = control.host;
  facts.comm_port = control.port;
  facts.umask = current_umask();
  facts.job_name = plan.request.job_name;
  return facts;
}

std::string file_of(const Route& route) {
  switch (route.kind) {
  case Route::Kind::file: return route.path;
  case Route::Kind::discard: return "/dev/null";
  case Route::Kind::stream:
  case Route::Kind::shared: break;
  }
  return {};
}

} // namespace

std::string StepPlan::step_text() const {
  return std::to_string(ground.slurm_job_id) + "." + std::to_string(step_id);
}

Result<StepPlan>
make_step_plan(context::Context& ctx, Request request, std::vector<std::string>& notices) {
  StepPlan plan;
  plan.request = std::move(request);
  plan.env = ctx.env;
  TRY_ASSIGN(plan.ground, find_ground(ctx, plan.request, plan.env));
  auto placement = plan::place(to_allocation(plan.ground.layout), plan.request.placement);
  if (!placement)
    return tl::unexpected<Error>(
        placement_error(std::move(placement).error(), plan.ground.slurm_job_id));
  plan.placement = std::move(*placement);
  notices = plan.placement.warnings;
  if (!plan.ground.standalone) {
    TRY_ASSIGN(plan.step_id, layout::next_step_id(plan.ground.folder));
  }
  plan.cwd = posix::current_directory().value_or("/");
  plan.name = plan.request.job_name.empty() ? std::string(posix::base_name(plan.request.command[0]))
                                            : plan.request.job_name;
  fill_hosts(plan);
  fill_routes(ctx, plan);
  return plan;
}

proto::StepSpec
make_step_spec(const context::Context& ctx, const StepPlan& plan, const ControlAddress& control) {
  proto::StepSpec spec;
  const auto& request = plan.request;
  auto env = rankenv::filter_export(plan.env, request.export_spec);
  const bool granted = has_granted_devices(plan.ground.layout);
  spec.gpu_env_var = granted ? gpu_variable(ctx.config.gpu) : "";
  if (granted && ctx.config.gpu.isolation_shim) rankenv::remove_device_masks(env);
  rankenv::apply_step_shadows(env, step_facts(plan, control));
  spec.env = std::move(env).take();
  spec.command = request.command;
  spec.chdir = tasks_directory(plan);
  spec.chdir_explicit = !request.chdir.empty();
  spec.label = request.label;
  spec.unbuffered = request.unbuffered;
  spec.open_append = request.open_append;
  spec.export_none = request.export_spec.none;
  spec.kill_wait_ms = ctx.config.kill_wait.count();
  return spec;
}

std::vector<proto::RankSpec>
make_rank_specs(const context::Context& ctx, const StepPlan& plan, std::size_t host) {
  std::vector<proto::RankSpec> out;
  const auto& placed = plan.placement.nodes[host];
  const auto& node = plan.ground.layout.nodes[static_cast<std::size_t>(placed.allocation_index)];
  std::vector<slurm::RankId> ids;
  for (const int rank : plan.hosts[host].ranks)
    ids.push_back(slurm::RankId{rank});
  const auto gtids = rankenv::gtids_text(ids);
  for (const int number : plan.hosts[host].ranks) {
    const auto& rank = plan.placement.ranks[static_cast<std::size_t>(number)];
    proto::RankSpec spec;
    spec.rank = number;
    spec.local = slurm::to_int(rank.local);
    spec.node_id = static_cast<int>(host);
    if (ctx.config.cpu_bind == "cores") spec.cpuset = rank.cpuset;
    spec.gpus = rank.gpus;
    rankenv::RankFacts facts;
    facts.rank = rank.rank;
    facts.local = rank.local;
    facts.node = slurm::NodeIndex{static_cast<int>(host)};
    facts.gtids = gtids;
    facts.cpus_on_node = placed.slots;
    facts.gpus_on_node = static_cast<int>(node.gpus.size());
    facts.gpus = &rank.gpus;
    spec.env_delta = rankenv::rank_delta(facts);
    const auto& routes = plan.routes[static_cast<std::size_t>(number)];
    spec.stdout_file = file_of(routes[0]);
    spec.stderr_file = file_of(routes[1]);
    out.push_back(std::move(spec));
  }
  return out;
}

} // namespace shim::commands::srun
