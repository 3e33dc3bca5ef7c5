#pragma once
// The checks of doctor, one row each. An Error of a check means that it could not ask: skip when
// the whole engine is away, else a warning. Spec install-doctor-ports 2.

#include "survey.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shim::commands::doctor {

inline constexpr char k_install_advice[] =
    "run `slurm-shim install`, look at its plan, then `slurm-shim install --apply`";

struct Check {
  std::string_view id, name;
  enum class Needs { nothing, engine, hosts, probe } needs = Needs::nothing;
  Result<Finding> (*run)(Survey&) = nullptr;
};
[[nodiscard]] std::span<const Check> all_checks();

[[nodiscard]] Result<Finding> check_environment(Survey&);      // C01
[[nodiscard]] Result<Finding> check_version(Survey&);          // C02
[[nodiscard]] Result<Finding> check_qmaster(Survey&);          // C03
[[nodiscard]] Result<Finding> check_roles(Survey&);            // C04
[[nodiscard]] Result<Finding> check_control_slaves(Survey&);   // C05
[[nodiscard]] Result<Finding> check_hook(Survey&);             // C06
[[nodiscard]] Result<Finding> check_forks(Survey&);            // C07
[[nodiscard]] Result<Finding> check_pe_lists(Survey&);         // C08
[[nodiscard]] Result<Finding> check_starters(Survey&);         // C09
[[nodiscard]] Result<Finding> check_starter_contract(Survey&); // C10
[[nodiscard]] Result<Finding> check_links(Survey&);            // C11
[[nodiscard]] Result<Finding> check_host_binaries(Survey&);    // C12
[[nodiscard]] Result<Finding> check_config(Survey&);           // C13
[[nodiscard]] Result<Finding> check_partitions(Survey&);       // C14
[[nodiscard]] Result<Finding> check_gpus(Survey&);             // C15
[[nodiscard]] Result<Finding> check_memory(Survey&);           // C16
[[nodiscard]] Result<Finding> check_spool(Survey&);            // C17
[[nodiscard]] Result<Finding> check_ports(Survey&);            // C18
[[nodiscard]] Result<Finding> check_reach(Survey&);            // C19
[[nodiscard]] Result<Finding> check_qrsh(Survey&);             // C20
[[nodiscard]] Result<Finding> check_names(Survey&);            // C21
[[nodiscard]] Result<Finding> check_clocks(Survey&);           // C22
[[nodiscard]] Result<Finding> check_queue_limits(Survey&);     // C23
[[nodiscard]] Result<Finding> check_request_files(Survey&);    // C24
[[nodiscard]] Result<Finding> check_queue_states(Survey&);     // C25
[[nodiscard]] Result<Finding> check_array_limits(Survey&);     // C26
[[nodiscard]] Result<Finding> check_accounting(Survey&);       // C27
[[nodiscard]] Result<Finding> check_tmpdir(Survey&);           // C28
[[nodiscard]] Result<Finding> check_users(Survey&);            // C29
[[nodiscard]] Result<Finding> check_kernel(Survey&);           // C30
[[nodiscard]] Result<Finding> check_reservation(Survey&);      // C31
[[nodiscard]] Result<Finding> check_priority(Survey&);         // C32

} // namespace shim::commands::doctor
