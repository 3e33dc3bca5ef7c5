#pragma once
// What the user asked for, typed and checked: all sources merged, every value parsed by the
// grammars of slurm/. A Request that exists is valid as far as it can be told without the engine
// and the configuration. Spec sbatch-translate 1, 2.2, 5-9; messages and exit codes vectors 03, 04.

#include "slurm_shim/cli/parse.h"
#include "slurm_shim/slurm/array_spec.h"
#include "slurm_shim/slurm/dependency.h"
#include "slurm_shim/slurm/distribution.h"
#include "slurm_shim/slurm/numbers.h"
#include "slurm_shim/slurm/resources.h"
#include "slurm_shim/slurm/signals.h"
#include "slurm_shim/slurm/words.h"

#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shim::submit {

enum class MemoryPer { node, cpu, gpu };

struct Memory {
  MemoryPer per = MemoryPer::node;
  std::uint64_t mebibytes = 0;
};

struct Request {
  // shape
  std::optional<slurm::NodeCount> nodes;
  std::optional<int> ntasks, tasks_per_node, cpus_per_task;
  std::optional<int> tasks_per_gpu, cpus_per_gpu, sockets_per_node;
  std::optional<int> tasks_per_core, tasks_per_socket, threads_per_core;
  std::optional<int> least_cpus; // --mincpus, on each host
  bool overcommit = false;
  std::optional<slurm::SocketsCoresThreads> extra_node_info;
  std::optional<std::string> nodelist, exclude, nodefile;
  bool spread = false;
  // place and order
  std::optional<std::string> partition, account, qos, reservation, constraint, clusters;
  std::optional<std::string> prefer; // features the hosts should have
  std::optional<std::string> licenses;
  std::optional<int> nice;
  std::optional<std::time_t> begin, deadline;
  std::optional<slurm::Exclusive> exclusive;
  bool hold = false;
  std::optional<bool> requeue;
  // limits and resources
  std::optional<std::uint32_t> minutes, minutes_min;
  std::map<MemoryPer, std::pair<std::uint64_t, cli::Origin::Kind>> memory_given;
  std::optional<Memory> memory; // the one in force
  std::vector<slurm::Gres> gres, gpus, gpus_per_node, gpus_per_task, gpus_per_socket;
  std::optional<std::string> gpu_bind;
  std::optional<std::uint64_t> tmp_mebibytes; // --tmp, on each host
  // the job itself
  std::optional<std::string> name, comment, directory, output, error, input, wrap;
  std::optional<slurm::OpenMode> open_mode;
  std::optional<slurm::ArraySpec> array;
  std::optional<std::string> array_text; // only parsed by the controller, after everything else
  std::optional<std::string> dependency_text;
  slurm::DependencyList dependency;
  std::optional<bool> kill_on_invalid_dep;
  std::optional<slurm::SignalSpec> signal;
  std::optional<slurm::MailTypes> mail_types;
  std::optional<std::string> mail_user, export_text, hint;
  slurm::ExportSpec exports;
  std::optional<std::string> export_file;
  std::optional<int> login_timeout_s; // --get-user-env, 0 = its default
  std::optional<slurm::Distribution> distribution;
  // how sbatch itself behaves
  bool parsable = false, test_only = false, quiet = false, wait = false, ignore_pbs = false;
  int verbose = 0;
  // Lines for stderr, in order, with which Slurm goes on.
  std::vector<std::string> notices;
};

// Values in order of rising precedence; a later one replaces an earlier one, and each is checked.
// Errors carry complete lines (refusal.h).
[[nodiscard]] Result<void>
apply_values(const std::vector<cli::Given>& given, std::time_t now, Request& request);

// What Slurm checks once everything is known, before it asks the controller; derives the counts
// that follow from others (nodes of a node list, tasks of GPUs).
[[nodiscard]] Result<void> verify_request(Request& request);
// What the controller checks: array, dependency, deadline.
[[nodiscard]] Result<void> verify_submission(Request& request, std::time_t now);

} // namespace shim::submit
