#pragma once
// The configuration: every key of spec/config.md as a typed struct with its built-in default, the
// look-up rules and the loader. Owns validation (file:line:column in every error). The stepper,
// rank-exec and batch-exec never include this.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/base/result.h"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::config {

using std::chrono::milliseconds;

enum class Launcher { qrsh_inherit, local };
enum class Standalone { automatic, allocate, local, reject };
enum class TaskPolicy { slot, node, gpu };

// PEs for a layout where the engine has no `qsub -par` (decision 24).
struct PeByLayout {
  std::string pe_slots, fill_up, round_robin; // "" = none
  std::map<int, std::string> fixed;           // slots per host -> PE
  [[nodiscard]] bool empty() const {
    return pe_slots.empty() && fill_up.empty() && round_robin.empty() && fixed.empty();
  }
};

struct Partition {
  std::string name;
  std::string queue;                                 // cluster queue; "" = no -q
  std::string pe;                                    // "" = Config::pe_name
  std::string slots = "per-task";                    // per-task | per-node:<k> | a positive integer
  std::optional<int> default_time_min, max_time_min; // minutes
  int slots_per_node = 0;                            // 0 = unknown
  int gpus_per_node = 0;                             // 0 = unknown
  bool is_default = false;
  PeByLayout pe_by_layout;
};

struct PortRange {
  int first = 61000, last = 61439; // 0,0 = ephemeral
};

// "A-B", one port, "0" (ephemeral) or "" (the default range); ports are 1..65535, A <= B.
[[nodiscard]] std::optional<PortRange> parse_port_range(std::string_view text);

struct GpuConfig {
  bool discovery = true;      // qstat-gres | none
  bool isolation_shim = true; // shim | cgroup
  std::string gres_complex = "gpu";
  bool bind_per_task = false;               // none | per-task
  std::string vendor = "auto";              // auto | nvidia | amd
  std::string consumable = "auto";          // auto | slot | host | job
  std::map<std::string, std::string> types; // Slurm type -> -l request
};

struct Config {
  std::string source; // file it came from; "" = built-in defaults
  std::string compat_version = SHIM_COMPAT_VERSION;
  Launcher launcher = Launcher::qrsh_inherit;
  Standalone standalone = Standalone::automatic;
  bool strict_flags = false;
  bool kill_on_bad_exit = false;
  milliseconds kill_wait{30000};
  bool export_master_addr = false;
  int master_port_base = 20000, master_port_range = 10000;
  milliseconds qstat_timeout{5000};
  std::string memory_complex = "h_vmem";  // "" = memory requests are dropped (with a warning)
  std::string memory_consumable = "auto"; // auto | slot | host | job | none
  std::string tmp_complex;                // of --tmp; "" = dropped (with a warning)
  bool emit_cpus_per_task = false;
  int launch_ramp = 64;
  milliseconds launch_timeout{60000};
  PortRange control_port;
  std::string control_address; // "" = found
  milliseconds ping_interval{10000}, ping_deadline{30000};
  milliseconds qacct_deadline{30000};
  bool job_name_sanitize = true;
  TaskPolicy default_task_policy = TaskPolicy::node;
  std::string default_partition;
  std::vector<Partition> partitions;                    // in file order
  std::map<std::string, std::string> partition_aliases; // queue -> partition as written in the file
  std::map<std::string, TaskPolicy> pe_task_policy;
  GpuConfig gpu;
  std::string array_job_ids = "unique";    // unique | shared
  bool submit_check = true;                // error | none
  std::string job_records;                 // "" = default place, "off", or a directory
  std::string batch_supervisor = "always"; // always | needed
  std::string env_transport = "file";      // file | qsub
  std::string output_mode = "auto";        // auto | ge
  std::string scancel_signal = "deliver";  // deliver | requeue
  std::string reserve = "multi_node";      // multi_node | always | never
  std::string cpu_bind = "none";           // none | cores
  std::string pe_name = "slurm-shim";
  bool honor_ge_directives = false;
  std::vector<std::string> qsub_extra_args;
  bool requeue_default = true;
  bool afterok_check = true;
  std::string accounting_source = "auto";  // auto | qacct | jsonl
  std::string squeue_unknown_job = "auto"; // auto | error | empty
  std::string account_map = "account";     // account | project
  std::map<std::string, std::string> features, licenses, gres_map;
  std::map<std::string, std::vector<std::string>> qos;
  std::string exclusive_complex;

  [[nodiscard]] const Partition* find_partition(std::string_view name) const;
  // The partition a queue is shown as: alias, else the only partition with that queue, else the
  // queue's own name.
  [[nodiscard]] std::string partition_of_queue(std::string_view queue) const;
  // Name of the default partition: the key, else the one marked default, else "".
  [[nodiscard]] std::string default_partition_name() const;
};

struct Loaded {
  Config config;
  std::vector<std::string> warnings; // unknown keys, in file order
};

// $SLURM_SHIM_CONFIG if non-empty, /etc/slurm-shim/config.yaml, <dir of the
// binary>/../etc/config.yaml.
// "" when no file exists (defaults apply); an explicit $SLURM_SHIM_CONFIG that is missing also
// means defaults (spec config, "Lookup").
[[nodiscard]] std::string locate(const EnvList& env, const std::string& self_path);
// Errors: "config: <file>:<line>:<column>: <key path>: <what was expected>".
[[nodiscard]] Result<Loaded> load_file(const std::string& path);
[[nodiscard]] Result<Loaded> parse(std::string_view yaml, const std::string& file_name);

} // namespace shim::config
