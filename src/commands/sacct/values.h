#pragma once
// The values of sacct's columns.

#include "columns.h"

namespace shim::commands::sacct::values {

std::string nothing(const Row& row);
std::string zero(const Row& row);
std::string unknown_frequency(const Row& row);
std::string account(const Row& row);
std::string alloc_cpus(const Row& row);
std::string alloc_nodes(const Row& row);
std::string alloc_tres(const Row& row);
std::string cluster(const Row& row);
std::string comment(const Row& row);
std::string cpu_time(const Row& row);
std::string cpu_time_raw(const Row& row);
std::string db_index(const Row& row);
std::string derived_exit(const Row& row);
std::string elapsed(const Row& row);
std::string elapsed_raw(const Row& row);
std::string eligible(const Row& row);
std::string end(const Row& row);
std::string exit_code(const Row& row);
std::string gid(const Row& row);
std::string group(const Row& row);
std::string job_id(const Row& row);
std::string job_id_raw(const Row& row);
std::string job_name(const Row& row);
std::string max_rss(const Row& row);
std::string max_vm_size(const Row& row);
std::string nnodes(const Row& row);
std::string node_list(const Row& row);
std::string ntasks(const Row& row);
std::string partition(const Row& row);
std::string planned(const Row& row);
std::string planned_cpu(const Row& row);
std::string planned_cpu_raw(const Row& row);
std::string qos(const Row& row);
std::string reason(const Row& row);
std::string req_cpus(const Row& row);
std::string req_mem(const Row& row);
std::string req_nodes(const Row& row);
std::string req_tres(const Row& row);
std::string restarts(const Row& row);
std::string start(const Row& row);
std::string state(const Row& row);
std::string std_err(const Row& row);
std::string std_in(const Row& row);
std::string std_out(const Row& row);
std::string submit(const Row& row);
std::string submit_line(const Row& row);
std::string suspended(const Row& row);
std::string system_cpu(const Row& row);
std::string time_limit(const Row& row);
std::string time_limit_raw(const Row& row);
std::string total_cpu(const Row& row);
std::string uid(const Row& row);
std::string user(const Row& row);
std::string user_cpu(const Row& row);
std::string work_dir(const Row& row);

} // namespace shim::commands::sacct::values
