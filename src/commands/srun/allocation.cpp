#include "allocation.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/tools.h"
#include "slurm_shim/posix/affinity.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/slurm/job_id.h"

#include <algorithm>

#include <sys/stat.h>
#include <unistd.h>

namespace shim::commands::srun {

namespace {

// Tells an srun inside of a standalone step that its SLURM_JOB_ID is an invented one.
constexpr std::string_view k_standalone_variable = "SLURM_SHIM_STANDALONE";

// What Slurm would have made the step of a job of its own with. The number is this process's: it
// is unique on the host as long as the step runs.
void invent_job_variables(const layout::Layout& layout, EnvList& env) {
  const auto id = std::to_string(layout.job.job_id);
  const auto& host = layout.nodes[0].host;
  env.set(k_standalone_variable, "1");
  env.set("SLURM_JOB_ID", id);
  env.set("SLURM_JOBID", id);
  env.set("SLURM_JOB_NAME", layout.job.name);
  env.set("SLURM_JOB_NUM_NODES", "1");
  env.set("SLURM_NNODES", "1");
  env.set("SLURM_JOB_NODELIST", host);
  env.set("SLURM_NODELIST", host);
  env.set("SLURM_SUBMIT_DIR", layout.job.submit_dir);
  env.set("SLURM_SUBMIT_HOST", host);
}

std::string short_name(const std::string& host) {
  return host.substr(0, host.find('.'));
}

layout::Layout local_layout(const Request& request) {
  layout::Layout out;
  out.job.job_id = ::getpid();
  out.job.name = request.job_name.empty() ? std::string(posix::base_name(request.command[0]))
                                          : request.job_name;
  out.job.submit_dir = posix::current_directory().value_or("/");
  layout::Node node;
  node.host = short_name(posix::host_name());
  node.ip = "127.0.0.1";
  node.is_master = true;
  // Nobody shares this "allocation" out: what was asked for is there.
  const auto& place = request.placement;
  const int asked =
      std::max(place.ntasks, place.ntasks_per_node) * std::max(place.cpus_per_task, 1);
  node.slots = std::max({static_cast<int>(posix::allowed_cpus().size()), asked, 1});
  out.nodes.push_back(node);
  out.tasks.per_node = {1};
  return out;
}

Result<Ground> standalone(context::Context& ctx, const Request& request, EnvList& env) {
  using config::Standalone;
  if (standalone_mode(ctx) != Standalone::local)
    return fail(ErrorKind::refused, "not inside a slurm-shim allocation (standalone: reject)");
  if (ctx.config.standalone == Standalone::automatic && !request.quiet && ::isatty(2) == 1)
    ctx.say("srun: not inside a job: running on this host\n");
  Ground ground;
  ground.layout = local_layout(request);
  ground.standalone = true;
  ground.slurm_job_id = ground.layout.job.job_id;
  invent_job_variables(ground.layout, env);
  return ground;
}

bool is_cluster(const context::Context& ctx) {
  return ctx.config.launcher != config::Launcher::local && ctx.env.has("SGE_ROOT") &&
         ge::locate_tool(ctx.env, "qrsh").has_value();
}

std::int64_t slurm_id_of(const Ground& ground, const EnvList& env) {
  if (ground.batch && ground.batch->slurm_id > 0) return ground.batch->slurm_id;
  const auto text = env.get_or("SLURM_JOB_ID", "");
  if (const auto id = parse_int<std::uint64_t>(text))
    if (static_cast<std::int64_t>(slurm::decode_job_id(*id).job) == ground.layout.job.job_id)
      return static_cast<std::int64_t>(*id);
  return ground.layout.job.job_id;
}

} // namespace

config::Standalone standalone_mode(const context::Context& ctx) {
  using config::Standalone;
  if (ctx.config.standalone != Standalone::automatic) return ctx.config.standalone;
  return is_cluster(ctx) ? Standalone::allocate : Standalone::local;
}

const Result<layout::Found>& LayoutHere::get() {
  if (!m_found) m_found = layout::find(m_env);
  return *m_found;
}

Result<layout::Found> LayoutHere::take() {
  static_cast<void>(get());
  return std::move(*m_found);
}

bool LayoutHere::is_missing() {
  const auto& found = get();
  return !found && found.error().kind == ErrorKind::not_found;
}

std::string job_of_other_host(const context::Context& ctx, LayoutHere& here) {
  auto job = ctx.env.get_or("SLURM_JOB_ID", "");
  if (job.empty() || ctx.env.has(k_standalone_variable) || !is_cluster(ctx)) return {};
  return here.is_missing() ? job : ""; // last: reads the layout
}

bool is_inside_job(const EnvList& env, LayoutHere& here) {
  if (!here.is_missing()) return true;
  return !env.get_or("SLURM_JOB_ID", "").empty() && !env.has(k_standalone_variable);
}

Result<Ground>
find_ground(context::Context& ctx, const Request& request, LayoutHere& here, EnvList& env) {
  auto found = here.take();
  if (!found) {
    if (found.error().kind != ErrorKind::not_found)
      return tl::unexpected<Error>(std::move(found).error());
    const auto job = env.get_or("SLURM_JOB_ID", "");
    if (!job.empty() && !env.has(k_standalone_variable))
      return fail(ErrorKind::refused, "srun must run on the master host of job " + job);
    return standalone(ctx, request, env);
  }
  Ground ground;
  ground.layout = std::move(found->layout);
  ground.folder = std::move(found->directory);
  if (auto batch = records::read_batch_json(records::JobFolder(ground.folder)))
    ground.batch = std::move(*batch);
  ground.slurm_job_id = slurm_id_of(ground, env);
  ground.any_remote_possible = ctx.config.launcher == config::Launcher::qrsh_inherit;
  return ground;
}

std::optional<std::chrono::seconds> job_time_left(const Ground& ground, std::int64_t now_ms) {
  if (!ground.batch || !ground.batch->limit_s) return std::nullopt;
  // The hook writes this file as the job starts.
  struct stat info {};
  const auto path = records::JobFolder(ground.folder).batch_json();
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return std::chrono::seconds(info.st_mtime + *ground.batch->limit_s - now_ms / 1000);
}

plan::Allocation to_allocation(const layout::Layout& layout) {
  plan::Allocation out;
  for (const auto& node : layout.nodes)
    out.nodes.push_back({node.host, node.engine_name(), node.slots, node.gpus});
  out.tasks_per_node = layout.tasks.per_node;
  out.cpus_per_task = layout.tasks.cpus_per_task;
  return out;
}

} // namespace shim::commands::srun
