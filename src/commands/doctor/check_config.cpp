// C13 to C16: the configuration file, and the objects of the engine that it names.
#include "checks.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include <sys/stat.h>

namespace shim::commands::doctor {

namespace {

const ge::Complex* find(const std::vector<ge::Complex>& complexes, std::string_view name) {
  for (const auto& complex : complexes)
    if (complex.name == name || complex.shortcut == name) return &complex;
  return nullptr;
}

bool has_gpu_partition(const Survey& s) {
  const auto& partitions = s.config().partitions;
  return std::any_of(partitions.begin(), partitions.end(), [](const auto& partition) {
    return partition.gpus_per_node > 0;
  });
}

bool is_zero(std::string_view value) {
  return value.find_first_of("123456789") == std::string_view::npos && !value.empty() &&
         value.front() >= '0' && value.front() <= '9';
}

std::string edit_complex(const std::string& line) {
  return "qconf -mc, and make the line: " + line;
}

// Ids such as "0 1" or "0-3" in "gpu=2(0 1)".
bool ids_are_numbers(std::string_view values, const std::string& name) {
  const auto at = values.find(name + "=");
  if (at == std::string_view::npos) return true;
  const auto open = values.find('(', at);
  const auto end = values.find(',', at);
  if (open == std::string_view::npos || open > end) return true;
  const auto close = values.find(')', open);
  return values.substr(open + 1, close - open - 1).find_first_not_of("0123456789 -,:") ==
         std::string_view::npos;
}

} // namespace

Result<Finding> check_config(Survey& s) {
  Verdict verdict;
  if (s.config_error) {
    verdict.fail(s.config_error->message,
                 "correct that line; `slurm-shim config check FILE` tells "
                 "whether a file is right");
    return verdict.finish("");
  }
  if (s.config_path.empty()) {
    const auto named = s.ctx.env.get_or("SLURM_SHIM_CONFIG", "");
    if (!named.empty())
      verdict.warn("SLURM_SHIM_CONFIG names " + named + ", which does not exist: defaults are used",
                   "unset SLURM_SHIM_CONFIG, or write the file");
    else
      verdict.info("no configuration file: defaults; partitions are the cluster queues");
    return verdict.finish("");
  }
  struct stat info {};
  if (::stat(s.config_path.c_str(), &info) == 0 && (info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    verdict.warn(s.config_path + " can be written by others than its owner",
                 "chmod go-w " + s.config_path);
  for (const auto& warning : s.config_warnings)
    verdict.warn(warning, "remove the key, or correct its name");
  const auto& config = s.config();
  const auto& partitions = config.partitions;
  if (!config.default_partition.empty() && !partitions.empty() &&
      config.find_partition(config.default_partition) == nullptr)
    verdict.fail("default_partition \"" + config.default_partition + "\" is no partition of " +
                     s.config_path,
                 "name one of its partitions");
  std::map<std::string, std::vector<std::string>> users_of_queue;
  for (const auto& partition : partitions) {
    if (partition.queue.empty())
      verdict.warn("partition " + partition.name + " names no queue: its jobs go to any",
                   "give it a queue: line " +
                       std::to_string(s.config_lines.contains("partitions")
                                          ? s.config_lines.at("partitions")
                                          : 1) +
                       " ff.");
    else
      users_of_queue[partition.queue].push_back(partition.name);
  }
  for (const auto& [queue, names] : users_of_queue)
    if (names.size() > 1 && !config.partition_aliases.contains(queue))
      verdict.warn("queue " + queue + " serves the partitions " + join(names, ", ") +
                       ": squeue cannot tell them apart and shows the queue's name",
                   "say which one is shown: partition_aliases: {" + queue + ": " + names.front() +
                       "}");
  for (const auto& [queue, name] : config.partition_aliases)
    if (users_of_queue.contains(queue) && config.find_partition(name) == nullptr)
      verdict.warn("partition_aliases: queue " + queue + " is shown as \"" + name +
                       "\", which is no partition",
                   "name one of its partitions: " + join(users_of_queue[queue], ", "));
  return verdict.finish(s.config_path);
}

Result<Finding> check_partitions(Survey& s) {
  TRY_ASSIGN(const auto queues, s.qconf.list("-sql"));
  TRY_ASSIGN(const auto pes, s.qconf.list("-spl"));
  const auto known = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  Verdict verdict;
  for (const auto& partition : s.config().partitions) {
    if (!partition.queue.empty() && !known(queues, partition.queue))
      verdict.fail("partition " + partition.name + ": there is no queue " + partition.queue,
                   "correct it in " + s.config_path + "; the queues are: " + join(queues, ", "));
    for (const auto& pe : s.pes_of(partition))
      if (!known(pes, pe))
        verdict.fail("partition " + partition.name + ": there is no PE " + pe,
                     "slurm-shim install --apply makes the PEs of the shim; the PEs are: " +
                         join(pes, ", "));
  }
  std::vector<std::string> unused;
  for (const auto& queue : queues) {
    const auto& partitions = s.config().partitions;
    if (!partitions.empty() && std::none_of(partitions.begin(), partitions.end(), [&](auto& p) {
          return p.queue == queue;
        }))
      unused.push_back(queue);
  }
  if (!unused.empty()) verdict.info("no partition leads to " + join(unused, ", "));
  const auto name = s.config().default_partition_name();
  if (s.config().partitions.empty() && !name.empty() && !known(queues, name))
    verdict.fail("default_partition: there is no queue " + name, "correct it in " + s.config_path);
  if (name.empty() && !s.config().partitions.empty())
    verdict.warn("there is no default partition: sbatch without -p is refused",
                 "set default_partition in " + s.config_path);
  return verdict.finish(fmt::format(
      "{} partitions, default {}", s.config().partitions.size(), name.empty() ? "none" : name));
}

Result<Finding> check_gpus(Survey& s) {
  const auto& gpu = s.config().gpu;
  const auto& name = gpu.gres_complex;
  Verdict verdict;
  if (name.empty()) return Finding{Status::info, "gpu.gres_complex is empty: no GPUs", {}};
  TRY_ASSIGN(const auto complexes, s.qconf.complexes());
  TRY_ASSIGN(const auto engine, s.qconf.engine_version());
  const bool has_maps = !engine.starts_with("SGE ") && !engine.starts_with("GE ");
  const std::string line = name + " " + name + (has_maps ? " RSMAP" : " INT") + " <= YES " +
                           (has_maps ? "HOST" : "YES") + " 0 0";
  const auto* complex = find(complexes, name);
  if (complex == nullptr) {
    if (s.is_configured("gpu.gres_complex") || has_gpu_partition(s) || !gpu.types.empty())
      verdict.fail("there is no complex " + name + ": requests for GPUs are refused",
                   edit_complex(line) +
                       "; then give hosts their devices: qconf -mattr exechost "
                       "complex_values " +
                       name + "=2" + (has_maps ? "'(0 1)'" : "") + " HOST");
    else
      verdict.info("no complex " + name + ": this cluster has no GPUs for the shim");
    return verdict.finish("");
  }
  if (to_upper(complex->consumable) == "NO")
    verdict.fail("complex " + name + " is not consumable: devices are not counted",
                 edit_complex(line));
  if (has_maps && complex->type != "RSMAP")
    verdict.fail("complex " + name + " is of type " + complex->type +
                     ": the engine grants no device numbers",
                 edit_complex(line));
  if (has_maps && to_upper(complex->consumable) == "YES")
    verdict.warn("complex " + name + " counts per slot: one GPU for every CPU that is asked for",
                 edit_complex(line) + " (HOST counts per host)");
  if (!is_zero(complex->default_value))
    verdict.warn("complex " + name + " has the default " + complex->default_value +
                     ": jobs that ask for none cannot use the hosts that have it",
                 edit_complex(line) + " (default 0)");
  TRY_ASSIGN(const auto hosts, s.qconf.list("-sel"));
  TRY_ASSIGN(const auto capacities, s.qconf.host_capacities(hosts, name));
  if (capacities.empty())
    verdict.warn("no host has a value of " + name,
                 "qconf -mattr exechost complex_values " + name + "=2" +
                     (has_maps ? "'(0 1)'" : "") + " HOST");
  for (const auto& host : hosts) {
    if (!capacities.contains(host) || complex->type != "RSMAP") continue;
    TRY_ASSIGN(const auto object, s.qconf.show("-se", host));
    if (object && !ids_are_numbers(object->get_or("complex_values", ""), name))
      verdict.warn(host + ": the ids of " + name + " are no numbers: CUDA does not know them",
                   "qconf -mattr exechost complex_values " + name + "=2'(0 1)' " + host);
  }
  if (complex->type != "RSMAP")
    verdict.info("counted per host, no device numbers: all ranks of a host see all devices");
  return verdict.finish(
      fmt::format("{} ({}), {} of {} hosts", name, complex->type, capacities.size(), hosts.size()));
}

Result<Finding> check_memory(Survey& s) {
  const auto& name = s.config().memory_complex;
  if (name.empty())
    return Finding{Status::info, "memory_complex is empty: --mem is dropped with a warning", {}};
  TRY_ASSIGN(const auto complexes, s.qconf.complexes());
  const auto* complex = find(complexes, name);
  Verdict verdict;
  const std::string other = "or set memory_complex to another one, or to \"\" (then --mem is "
                            "dropped), in the configuration";
  if (complex == nullptr) {
    verdict.fail("there is no complex " + name + ": requests with --mem are refused",
                 edit_complex(name + " " + name + " MEMORY <= YES YES 2G 0") + "; " + other);
    return verdict.finish("");
  }
  if (to_upper(complex->requestable) == "NO")
    verdict.fail("complex " + name + " cannot be requested: --mem is refused",
                 edit_complex(name + " " + complex->shortcut + " MEMORY <= YES " +
                              complex->consumable + " " + complex->default_value + " 0") +
                     "; " + other);
  const bool counts = to_upper(complex->consumable) != "NO";
  if (name == "h_vmem" && counts && is_zero(complex->default_value))
    verdict.fail("h_vmem is a consumable with the default 0: a job that does not ask for memory is "
                 "killed at once",
                 edit_complex("h_vmem h_vmem MEMORY <= YES YES 2G 0") + " (a default above 0)");
  if (name == "h_vmem" && has_gpu_partition(s))
    verdict.warn("h_vmem limits address space, and a CUDA process maps much more than it uses: "
                 "jobs with --mem on GPU partitions die",
                 "set memory_complex: mem_free, or a consumable without a limit");
  if (!counts)
    verdict.info("it is not counted: jobs are limited by it, hosts are not protected by it");
  return verdict.finish(fmt::format(
      "{}, consumable {}, default {}", name, complex->consumable, complex->default_value));
}

} // namespace shim::commands::doctor
