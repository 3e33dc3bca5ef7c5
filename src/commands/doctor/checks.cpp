#include "checks.h"

#include <array>

namespace shim::commands::doctor {

namespace {
using Needs = Check::Needs;
constexpr std::array k_checks{
    Check{"C01", "env.sge_root", Needs::nothing, check_environment},
    Check{"C02", "ge.version", Needs::nothing, check_version},
    Check{"C03", "ge.qmaster", Needs::nothing, check_qmaster},
    Check{"C04", "ge.roles", Needs::engine, check_roles},
    Check{"C05", "pe.control_slaves", Needs::engine, check_control_slaves},
    Check{"C06", "pe.hook", Needs::engine, check_hook},
    Check{"C07", "pe.forks", Needs::engine, check_forks},
    Check{"C08", "queue.pe_list", Needs::engine, check_pe_lists},
    Check{"C09", "queue.starter", Needs::engine, check_starters},
    Check{"C10", "starter.contract", Needs::engine, check_starter_contract},
    Check{"C11", "links", Needs::nothing, check_links},
    Check{"C12", "binary.hosts", Needs::hosts, check_host_binaries},
    Check{"C13", "config.lint", Needs::nothing, check_config},
    Check{"C14", "partition.objects", Needs::engine, check_partitions},
    Check{"C15", "gpu.complex", Needs::engine, check_gpus},
    Check{"C16", "mem.complex", Needs::engine, check_memory},
    Check{"C17", "spool.traverse", Needs::engine, check_spool},
    Check{"C18", "ports.range", Needs::nothing, check_ports},
    Check{"C19", "ports.reach", Needs::hosts, check_reach},
    Check{"C20", "qrsh.path", Needs::engine, check_qrsh},
    Check{"C21", "dns", Needs::engine, check_names},
    Check{"C22", "clock", Needs::hosts, check_clocks},
    Check{"C23", "queue.limits", Needs::engine, check_queue_limits},
    Check{"C24", "sge_request", Needs::engine, check_request_files},
    Check{"C25", "queue.state", Needs::engine, check_queue_states},
    Check{"C26", "limits.arrays", Needs::engine, check_array_limits},
    Check{"C27", "accounting", Needs::engine, check_accounting},
    Check{"C28", "tmpdir", Needs::engine, check_tmpdir},
    Check{"C29", "users", Needs::nothing, check_users},
    Check{"C30", "kernel", Needs::nothing, check_kernel},
    Check{"C31", "reservation", Needs::engine, check_reservation},
    Check{"C32", "priority", Needs::engine, check_priority},
    // Judged together from one job.
    Check{"P01", "probe.submit", Needs::probe, nullptr},
    Check{"P02", "probe.env", Needs::probe, nullptr},
    Check{"P03", "probe.srun", Needs::probe, nullptr},
    Check{"P04", "probe.layout", Needs::probe, nullptr},
    Check{"P05", "probe.sacct", Needs::probe, nullptr},
    Check{"P06", "probe.gpu", Needs::probe, nullptr},
};
} // namespace

std::span<const Check> all_checks() {
  return k_checks;
}

} // namespace shim::commands::doctor
