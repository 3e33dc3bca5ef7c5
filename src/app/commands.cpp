#include "slurm_shim/app/commands.h"

#include "links.h"

#include "slurm_shim/batchexec/batch_exec.h"
#include "slurm_shim/commands/admin.h"
#include "slurm_shim/commands/doctor.h"
#include "slurm_shim/commands/env.h"
#include "slurm_shim/commands/probes.h"
#include "slurm_shim/commands/sacct.h"
#include "slurm_shim/commands/salloc.h"
#include "slurm_shim/commands/sbatch.h"
#include "slurm_shim/commands/scancel.h"
#include "slurm_shim/commands/scontrol.h"
#include "slurm_shim/commands/sinfo.h"
#include "slurm_shim/commands/squeue.h"
#include "slurm_shim/commands/srun.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/stepper/stepper.h"

#include <algorithm>
#include <array>

namespace shim::app {

namespace {

int run_doctor_with_links(context::Context& ctx, const std::vector<std::string>& words) {
  return commands::run_doctor(ctx, words, link_names());
}

int run_install_with_links(context::Context& ctx, const std::vector<std::string>& words) {
  auto self = posix::self_path();
  if (!self) return ctx.fail(std::move(self).error().context("install"));
  return commands::run_install(ctx, words, {std::move(*self), link_names()});
}

constexpr std::array k_commands{
    Command{"batch-exec",
            "",
            Kind::internal,
            "supervises a batch script",
            nullptr,
            nullptr,
            batchexec::batch_exec_main},
    Command{"config",
            "",
            Kind::admin,
            "shows the configuration in effect, or checks a file",
            nullptr,
            commands::run_config,
            nullptr},
    Command{"doctor",
            "",
            Kind::admin,
            "checks the installation and says what to do",
            nullptr,
            run_doctor_with_links,
            nullptr},
    Command{"env",
            "slurm-shim-env",
            Kind::admin,
            "fabricates a job's SLURM_* environment (PE hook)",
            nullptr,
            commands::run_env,
            nullptr},
    Command{"explain",
            "",
            Kind::admin,
            "tells what sbatch would submit, and why",
            nullptr,
            commands::run_explain,
            nullptr},
    Command{"install",
            "",
            Kind::admin,
            "wires the shim into a Grid Engine cluster",
            nullptr,
            run_install_with_links,
            nullptr},
    Command{"links",
            "",
            Kind::admin,
            "lists the command links, or makes them",
            nullptr,
            run_links,
            nullptr},
    Command{"ports",
            "",
            Kind::admin,
            "prints firewall rules for the control connections",
            nullptr,
            commands::run_ports,
            nullptr},
    Command{"rank-exec",
            "",
            Kind::internal,
            "starts one rank",
            nullptr,
            nullptr,
            stepper::rank_exec_main},
    Command{"records",
            "",
            Kind::admin,
            "cleans the records of one's own jobs",
            nullptr,
            commands::run_records,
            nullptr},
    Command{"sacct",
            "sacct",
            Kind::user,
            "shows what happened to jobs",
            commands::sacct_options,
            commands::run_sacct,
            nullptr},
    Command{"sacctmgr",
            "sacctmgr",
            Kind::user,
            "shows accounts and clusters, as far as there are any",
            commands::sacctmgr_options,
            commands::run_sacctmgr,
            nullptr},
    Command{"salloc",
            "salloc",
            Kind::user,
            "runs a command or a shell in a job of its own",
            commands::salloc_options,
            commands::run_salloc,
            nullptr},
    Command{"sattach",
            "sattach",
            Kind::user,
            "tells that steps cannot be attached to",
            commands::sattach_options,
            commands::run_sattach,
            nullptr},
    Command{"sbatch",
            "sbatch",
            Kind::user,
            "submits a batch script",
            commands::sbatch_options,
            commands::run_sbatch,
            nullptr},
    Command{"sbcast",
            "sbcast",
            Kind::user,
            "tells how files get to the hosts of a job",
            commands::sbcast_options,
            commands::run_sbcast,
            nullptr},
    Command{"scancel",
            "scancel",
            Kind::user,
            "ends or signals jobs",
            commands::scancel_options,
            commands::run_scancel,
            nullptr},
    Command{"scontrol",
            "scontrol",
            Kind::user,
            "shows and controls jobs, nodes and host lists",
            commands::scontrol_options,
            commands::run_scontrol,
            nullptr},
    Command{"sdiag",
            "sdiag",
            Kind::user,
            "tells whose scheduler it is",
            commands::sdiag_options,
            commands::run_sdiag,
            nullptr},
    Command{"sinfo",
            "sinfo",
            Kind::user,
            "shows partitions and nodes",
            commands::sinfo_options,
            commands::run_sinfo,
            nullptr},
    Command{"sprio",
            "sprio",
            Kind::user,
            "shows priorities of waiting jobs",
            commands::sprio_options,
            commands::run_sprio,
            nullptr},
    Command{"squeue",
            "squeue",
            Kind::user,
            "shows the queue",
            commands::squeue_options,
            commands::run_squeue,
            nullptr},
    Command{"sreport",
            "sreport",
            Kind::user,
            "tells where reports come from",
            commands::sreport_options,
            commands::run_sreport,
            nullptr},
    Command{"srun",
            "srun",
            Kind::user,
            "launches the tasks of a step",
            commands::srun_options,
            commands::run_srun,
            nullptr},
    Command{"sshare",
            "sshare",
            Kind::user,
            "shows the share tree",
            commands::sshare_options,
            commands::run_sshare,
            nullptr},
    Command{"sstat",
            "sstat",
            Kind::user,
            "shows running steps",
            commands::sstat_options,
            commands::run_sstat,
            nullptr},
    Command{"stepper",
            "slurm-shim-stepper",
            Kind::internal,
            "runs one host's ranks of a step",
            nullptr,
            nullptr,
            stepper::stepper_main},
    Command{"strigger",
            "strigger",
            Kind::user,
            "shows that there are no triggers",
            commands::strigger_options,
            commands::run_strigger,
            nullptr},
};
static_assert(std::is_sorted(k_commands.begin(),
                             k_commands.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));

} // namespace

std::span<const Command> commands() {
  return k_commands;
}

const Command* find_command(std::string_view name) {
  for (const auto& command : k_commands)
    if (command.name == name || (!command.link.empty() && command.link == name)) return &command;
  return nullptr;
}

std::vector<std::string> link_names() {
  std::vector<std::string> names;
  for (const auto& command : k_commands)
    if (!command.link.empty()) names.emplace_back(command.link);
  return names;
}

} // namespace shim::app
