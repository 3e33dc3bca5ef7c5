#include "scontrol.h"
#include "session.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/cell.h"
#include "slurm_shim/history/recent.h"
#include "slurm_shim/slurm/array_spec.h"
#include "slurm_shim/slurm/date_time.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <fmt/core.h>

namespace shim::commands::scontrol {

namespace {

// The engine's master host, "" when it does not answer.
std::string master_host(const Session& session) {
  const auto answer = session.tools.run({.tool = "qconf", .args = {"-sss"}});
  if (!answer || answer->status != 0) return {};
  return std::string(trim(split(trim(answer->out), '\n').front()));
}

} // namespace

// What Slurm's clients read of it, as far as it has a counterpart here.
int show_config(context::Context& ctx) {
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  const Session session(ctx);
  const auto now = static_cast<std::time_t>(session.source.now);
  const auto seconds = [](auto ms) { return std::to_string(ms.count() / 1000) + " sec"; };
  std::string text = "Configuration data as of " + slurm::format_date_time(now) + "\n";
  const std::pair<std::string_view, std::string> lines[] = {
      {"AccountingStorageType", "accounting_storage/gridengine"},
      {"AuthType", "auth/gridengine"},
      {"ClusterName", ge::cluster_name(ctx.env)},
      {"DefMemPerNode", "UNLIMITED"},
      {"GresTypes", ctx.config.gpu.gres_complex},
      {"JobAcctGatherType", "jobacct_gather/gridengine"},
      {"JobRequeue", ctx.config.requeue_default ? "1" : "0"},
      {"KillWait", seconds(ctx.config.kill_wait)},
      {"MaxArraySize", std::to_string(slurm::k_max_array_size)},
      {"MaxMemPerNode", "UNLIMITED"},
      {"MinJobAge", fmt::format("{} sec", history::k_min_job_age_s)},
      {"MpiDefault", "none"},
      {"PreemptMode", "OFF"},
      {"PriorityType", "priority/gridengine"},
      {"ProctrackType", "proctrack/gridengine"},
      {"SchedulerType", "sched/gridengine"},
      {"SelectType", "select/cons_tres"},
      {"SLURM_VERSION", ctx.config.compat_version},
      {"SlurmctldHost[0]", master_host(session)},
      {"SwitchType", "switch/none"},
      {"TaskPlugin", ctx.config.cpu_bind == "cores" ? "task/affinity" : "task/none"},
      {"TmpFS", "/tmp"},
  };
  for (const auto& [key, value] : lines)
    text += fmt::format("{:<23} = {}\n", key, value.empty() ? "(null)" : value);
  ctx.out.write(text);
  return slurm::k_exit_ok;
}

} // namespace shim::commands::scontrol
