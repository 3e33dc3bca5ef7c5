#include "step_plan.h"

#include "host_files.h"
#include "multi_prog.h"
#include "request_devices.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/config/devices.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/posix/limits.h"
#include "slurm_shim/posix/spawn.h"
#include "slurm_shim/rankenv/rankenv.h"
#include "slurm_shim/records/submit_file.h"
#include "slurm_shim/records/submit_record.h"
#include "slurm_shim/slurm/hostlist.h"

#include <fmt/format.h>

#include <algorithm>

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace shim::commands::srun {

namespace {

// The only way to read it is to set it.
unsigned current_umask() {
  const auto mask = ::umask(077);
  ::umask(mask);
  return mask;
}

Error placement_error(Error error, std::int64_t job) {
  if (error.kind != ErrorKind::refused) return error;
  // Lines before the last one say more, and stand for themselves.
  const auto end = error.message.rfind('\n');
  error.message.insert(end == std::string::npos ? 0 : end + 1,
                       "Unable to create step for job " + std::to_string(job) + ": ");
  return error;
}

void fill_hosts(StepPlan& plan) {
  const auto& nodes = plan.ground.layout.nodes;
  for (const auto& placed : plan.placement.nodes) {
    const auto& node = nodes[static_cast<std::size_t>(placed.allocation_index)];
    const bool remote =
        plan.ground.any_remote_possible && (placed.allocation_index != 0 || plan.is_relay);
    plan.hosts.push_back({node.host, node.engine_name(), remote, {}});
    plan.any_remote = plan.any_remote || remote;
  }
  for (const auto& rank : plan.placement.ranks)
    plan.hosts[static_cast<std::size_t>(slurm::to_int(rank.node))].ranks.push_back(
        slurm::to_int(rank.rank));
}

bool is_program(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

// As in Slurm, a program that no folder of PATH has may lie in the working directory.
void find_in_directory(std::string& program, const EnvList& env, const std::string& directory) {
  if (program.find('/') != std::string::npos) return;
  const auto candidates = posix::program_candidates(program, env.entries());
  if (std::any_of(candidates.begin(), candidates.end(), is_program)) return;
  if (auto here = directory + "/" + program; is_program(here)) program = std::move(here);
}

std::string tasks_directory(const StepPlan& plan) {
  return plan.request.chdir.empty() ? plan.cwd : posix::absolute(plan.request.chdir, plan.cwd);
}

// A path is srun's, wherever the tasks run; a name is looked up there.
std::string task_hook(const StepPlan& plan, const std::string& program) {
  if (program == "none") return {};
  return program.find('/') == std::string::npos ? program : posix::absolute(program, plan.cwd);
}

// Nothing to read and nothing to wait for, as in every batch job.
bool is_null_device(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == ::makedev(1, 3);
}

// --pty: rank 0 has the terminal for everything, the others have nothing.
void fill_terminal_routes(StepPlan& plan) {
  for (auto& route : plan.routes[0])
    route = {Route::Kind::stream, true, {}};
  for (std::size_t rank = 1; rank < plan.routes.size(); ++rank)
    plan.routes[rank].fill({Route::Kind::discard, true, {}});
  plan.input.streams_to.assign(plan.routes.size(), false);
  plan.input.streams_to[0] = true;
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
  const bool has_files =
      !request.output.empty() || !request.error.empty() || !request.input.empty();
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
  plan.input = plan_input({request.input, plan.cwd, tasks_directory(plan)}, fields, places);
  if (plan.input.path.empty() && is_null_device(STDIN_FILENO))
    plan.input.streams_to.assign(places.size(), false);
  if (request.terminal) fill_terminal_routes(plan);
}

bool has_granted_devices(const layout::Layout& layout) {
  return std::any_of(layout.nodes.begin(), layout.nodes.end(), [](const auto& node) {
    return !node.gpus.empty();
  });
}

// Where nothing says otherwise, only what cannot meet others: a step that has all slots of the
// host, or CPUs that the engine has given to this job alone (decision 14).
void bind_cpus(const StepPlan& plan,
               const plan::PlacedNode& node,
               const plan::PlacedRank& rank,
               proto::RankSpec& spec) {
  using Kind = slurm::CpuBind::Kind;
  const auto& bind = plan.request.cpu_bind;
  if (bind && bind->kind == Kind::none) return;
  spec.cpuset = rank.cpuset;
  if (bind && bind->kind == Kind::list) {
    const auto turn = static_cast<std::size_t>(slurm::to_int(rank.local)) % bind->cpus.size();
    spec.cpuset = fmt::format("{}", fmt::join(bind->cpus[turn], ","));
  }
  spec.cpuset_if_limited = !bind && node.ntasks * plan.placement.cpus_per_task < node.slots;
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
  facts.distribution = slurm::format_distribution(placement.distribution);
  facts.plane_size = placement.distribution.plane_size;
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

// An engine that only counts devices, as 8.1.9 does, grants none by name.
bool has_unnamed_devices(const StepPlan& plan) {
  if (has_granted_devices(plan.ground.layout)) return false;
  for (const auto* name : {"SLURM_GPUS", "SLURM_GPUS_PER_NODE", "SLURM_GPUS_PER_TASK"})
    if (const auto asked = plan.env.get_or(name, ""); !asked.empty() && asked != "0") return true;
  if (!plan.ground.batch) return false;
  const records::StatePaths state(plan.ground.batch->dir);
  const auto file = records::read_submit_file(state, plan.ground.layout.job.job_id);
  if (!file) return false;
  const auto record = records::SubmitRecord::decode(file->req);
  return record && record->get_or("tres", "").find("gpu") != std::string::npos;
}

} // namespace

Result<std::string> directory_of_step(const Request& request) {
  auto own = posix::current_directory();
  if (own) return own;
  if (request.chdir.starts_with('/')) return std::string("/");
  const auto& reason = own.error().message;
  return fail(ErrorKind::io, "getcwd failed" + reason.substr(reason.rfind(": ")));
}

std::string StepPlan::step_text() const {
  return std::to_string(ground.slurm_job_id) + "." + std::to_string(step_id);
}

Result<StepPlan> draft_step(context::Context& ctx,
                            LayoutHere& here,
                            Request request,
                            std::vector<std::string>& notices) {
  StepPlan plan;
  plan.request = std::move(request);
  plan.env = ctx.env;
  TRY(read_host_files(plan.request));
  TRY_ASSIGN(plan.ground, find_ground(ctx, plan.request, here, plan.env));
  if (plan.ground.standalone)
    drop_devices(plan.request, "devices are given out to jobs only", notices);
  else if (asks_for_devices(plan.request) && has_unnamed_devices(plan))
    drop_devices(plan.request, "the engine does not tell which GPUs the job has", notices);
  auto placement = plan::place(to_allocation(plan.ground.layout), plan.request.placement, notices);
  if (!placement)
    return tl::unexpected<Error>(
        placement_error(std::move(placement).error(), plan.ground.slurm_job_id));
  plan.placement = std::move(*placement);
  TRY_ASSIGN(plan.cwd, directory_of_step(plan.request));
  plan.name = plan.request.job_name.empty() ? std::string(posix::base_name(plan.request.command[0]))
                                            : plan.request.job_name;
  if (plan.request.multi_prog) {
    const auto ntasks = static_cast<int>(plan.placement.ranks.size());
    TRY_ASSIGN(plan.programs, read_multi_prog(plan.request.command, ntasks));
    for (auto& program : plan.programs)
      find_in_directory(program[0], plan.env, tasks_directory(plan));
  } else {
    find_in_directory(plan.request.command[0], plan.env, tasks_directory(plan));
  }
  return plan;
}

void complete_step(context::Context& ctx, StepPlan& plan) {
  fill_hosts(plan);
  fill_routes(ctx, plan);
}

std::string binding_report(const context::Context& ctx, const StepPlan& plan) {
  const auto& devices = plan.request.placement.devices.bind;
  const auto& cpus = plan.request.cpu_bind;
  const bool tells_cpus = cpus && cpus->verbose && ctx.config.cpu_bind == "cores";
  std::string out;
  for (std::size_t host = 0; host < plan.hosts.size(); ++host) {
    const auto& name = plan.hosts[host].name;
    if (!tells_cpus && !(devices && devices->verbose)) break;
    for (const auto& rank : make_rank_specs(ctx, plan, host)) {
      if (tells_cpus)
        out += fmt::format("srun: cpu-bind: task {} on {}: {}\n",
                           rank.rank,
                           name,
                           rank.cpuset.empty() ? "all CPUs" : "CPUs " + rank.cpuset);
      if (devices && devices->verbose)
        out += fmt::format("srun: gpu-bind: task {} on {}: {}\n",
                           rank.rank,
                           name,
                           rank.gpus.empty() ? "no GPUs" : join(rank.gpus, ","));
    }
  }
  return out;
}

proto::StepSpec
make_step_spec(const context::Context& ctx, const StepPlan& plan, const ControlAddress& control) {
  proto::StepSpec spec;
  const auto& request = plan.request;
  auto env = rankenv::filter_export(plan.env, request.export_spec);
  const bool granted = has_granted_devices(plan.ground.layout);
  spec.gpu_env_var = granted ? config::device_variable(ctx.config.gpu) : "";
  if (granted && ctx.config.gpu.isolation_shim) rankenv::remove_device_masks(env);
  // The srun behind a relay makes its own of what its caller has.
  if (!plan.is_relay) rankenv::apply_step_shadows(env, step_facts(plan, control));
  spec.env = std::move(env).take();
  spec.command = request.command;
  spec.chdir = tasks_directory(plan);
  spec.chdir_explicit = !request.chdir.empty();
  spec.task_prolog = task_hook(plan, request.task_prolog);
  spec.task_epilog = task_hook(plan, request.task_epilog);
  spec.terminal = request.terminal;
  spec.label = request.label;
  spec.unbuffered = request.unbuffered || request.terminal;
  spec.open_append = request.open_append;
  spec.export_none = request.export_spec.none;
  spec.umask = static_cast<int>(current_umask());
  spec.limits = posix::soft_limits(request.propagate);
  spec.is_relay = plan.is_relay;
  if (plan.is_relay)
    spec.host_env = {"TMPDIR",
                     "JOB_ID",
                     "SGE_TASK_ID",
                     "SGE_TASK_FIRST",
                     "SGE_TASK_LAST",
                     "SGE_TASK_STEPSIZE",
                     "SGE_ROOT",
                     "SGE_CELL"};
  spec.kill_wait_ms = ctx.config.kill_wait.count();
  spec.ping_interval_ms = ctx.config.ping_interval.count();
  spec.ping_deadline_ms = ctx.config.ping_deadline.count();
  if (plan.any_remote && plan.ground.batch) {
    spec.mailbox = records::StatePaths(plan.ground.batch->dir).mailbox(plan.ground.batch->key());
    spec.master_host = plan.ground.layout.nodes[0].host;
  }
  return spec;
}

std::vector<proto::RankSpec>
make_rank_specs(const context::Context& ctx, const StepPlan& plan, std::size_t host) {
  std::vector<proto::RankSpec> out;
  const auto& placed = plan.placement.nodes[host];
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
    if (ctx.config.cpu_bind == "cores") bind_cpus(plan, placed, rank, spec);
    spec.gpus = rank.gpus;
    rankenv::RankFacts facts;
    facts.rank = rank.rank;
    facts.local = rank.local;
    facts.node = slurm::NodeIndex{static_cast<int>(host)};
    facts.gtids = gtids;
    facts.cpus_on_node = placed.slots;
    facts.gpus_on_node = static_cast<int>(placed.gpus.size());
    facts.gpus = &rank.gpus;
    if (!plan.is_relay) spec.env_delta = rankenv::rank_delta(facts);
    if (!plan.programs.empty()) spec.command = plan.programs[static_cast<std::size_t>(number)];
    const auto& routes = plan.routes[static_cast<std::size_t>(number)];
    spec.on_terminal = plan.request.terminal && number == 0;
    spec.reads_stdin = plan.input.streams_to[static_cast<std::size_t>(number)];
    spec.stdin_file = plan.input.files[static_cast<std::size_t>(number)];
    spec.stdout_file = file_of(routes[0]);
    spec.stderr_file = file_of(routes[1]);
    out.push_back(std::move(spec));
  }
  return out;
}

} // namespace shim::commands::srun
