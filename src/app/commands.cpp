#include "commands.h"

#include "links.h"

#include "slurm_shim/batchexec/batch_exec.h"
#include "slurm_shim/commands/admin.h"
#include "slurm_shim/commands/env.h"
#include "slurm_shim/commands/sbatch.h"
#include "slurm_shim/commands/scancel.h"
#include "slurm_shim/commands/scontrol.h"
#include "slurm_shim/commands/squeue.h"
#include "slurm_shim/commands/srun.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/stepper/stepper.h"

#include <algorithm>
#include <array>

namespace shim::app {

namespace {

int run_install_with_links(context::Context& ctx, const std::vector<std::string>& words) {
  return commands::run_install(ctx, words, link_names());
}

constexpr std::array k_commands{
    Command{"batch-exec",
            "",
            Kind::internal,
            "supervises a batch script",
            nullptr,
            nullptr,
            batchexec::batch_exec_main},
    Command{"env",
            "slurm-shim-env",
            Kind::admin,
            "fabricates a job's SLURM_* environment (PE hook)",
            nullptr,
            commands::run_env,
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
    Command{"rank-exec",
            "",
            Kind::internal,
            "starts one rank",
            nullptr,
            nullptr,
            stepper::rank_exec_main},
    Command{"sbatch",
            "sbatch",
            Kind::user,
            "submits a batch script",
            commands::sbatch_options,
            commands::run_sbatch,
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
    Command{"squeue",
            "squeue",
            Kind::user,
            "shows the queue",
            commands::squeue_options,
            commands::run_squeue,
            nullptr},
    Command{"srun",
            "srun",
            Kind::user,
            "launches the tasks of a step",
            commands::srun_options,
            commands::run_srun,
            nullptr},
    Command{"stepper",
            "slurm-shim-stepper",
            Kind::internal,
            "runs one host's ranks of a step",
            nullptr,
            nullptr,
            stepper::stepper_main},
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
