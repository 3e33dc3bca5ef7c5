#include "schema.h"

#include "reader.h"
#include "values.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/config/show.h"

#include <array>
#include <limits>
#include <set>

namespace shim::config {

namespace {

constexpr int k_any = std::numeric_limits<int>::max();

// What is noted beside the values.
struct Notes {
  std::vector<std::string>& warnings;
  Lines& lines;
};

struct Walk {
  Loaded& loaded;
  Notes notes;
  [[nodiscard]] Config& config() const { return loaded.config; }
};

template <class Target> struct Key {
  std::string_view name;
  Result<void> (*read)(const Value&, Target&);
};

// Reads the entries of `map` by a table; what the table does not know is a warning.
template <class Target, std::size_t N>
Result<void>
read_map(const Value& map, const std::array<Key<Target>, N>& table, Target& target, Notes& notes) {
  return map.entries([&](const std::string& name, const Value& value) -> Result<void> {
    for (const auto& key : table)
      if (key.name == name) {
        notes.lines[value.path()] = value.key_line();
        return key.read(value, target);
      }
    notes.warnings.push_back(value.unknown_key());
    return {};
  });
}

Result<void> read_task_policy(const Value& v, TaskPolicy& out) {
  return v.choice<TaskPolicy>(
      out, {{"slot", TaskPolicy::slot}, {"node", TaskPolicy::node}, {"gpu", TaskPolicy::gpu}});
}

// ---- pe_by_layout

Result<void> read_fixed(const Value& v, std::map<int, std::string>& out) {
  return v.entries([&](const std::string& key, const Value& pe) -> Result<void> {
    const auto slots = parse_int<int>(key);
    if (!is_digits(key) || !slots || *slots < 1)
      return pe.expected("a number of slots per host as its key");
    return pe.text(out[*slots]);
  });
}

struct LayoutTarget {
  PeByLayout& layout;
};
constexpr std::array k_layout_keys{
    Key<LayoutTarget>{"pe_slots",
                      [](const Value& v, LayoutTarget& t) { return v.text(t.layout.pe_slots); }},
    Key<LayoutTarget>{"fill_up",
                      [](const Value& v, LayoutTarget& t) { return v.text(t.layout.fill_up); }},
    Key<LayoutTarget>{"round_robin",
                      [](const Value& v, LayoutTarget& t) { return v.text(t.layout.round_robin); }},
    Key<LayoutTarget>{
        "fixed", [](const Value& v, LayoutTarget& t) { return read_fixed(v, t.layout.fixed); }},
};

// ---- partitions

struct PartitionTarget {
  Partition& partition;
  Notes& notes;
};

Result<void> read_slots(const Value& v, PartitionTarget& t) {
  TRY(v.text(t.partition.slots));
  if (!is_slots_rule(t.partition.slots))
    return v.expected("per-task, per-node:<k> or a number above zero");
  return {};
}

Result<void> read_layout(const Value& v, PartitionTarget& t) {
  LayoutTarget layout{t.partition.pe_by_layout};
  return read_map(v, k_layout_keys, layout, t.notes);
}

constexpr std::array k_partition_keys{
    Key<PartitionTarget>{
        "queue", [](const Value& v, PartitionTarget& t) { return v.text(t.partition.queue); }},
    Key<PartitionTarget>{"pe",
                         [](const Value& v, PartitionTarget& t) { return v.text(t.partition.pe); }},
    Key<PartitionTarget>{"slots", read_slots},
    Key<PartitionTarget>{
        "default_time",
        [](const Value& v, PartitionTarget& t) { return v.minutes(t.partition.default_time_min); }},
    Key<PartitionTarget>{
        "max_time",
        [](const Value& v, PartitionTarget& t) { return v.minutes(t.partition.max_time_min); }},
    Key<PartitionTarget>{"slots_per_node",
                         [](const Value& v, PartitionTarget& t) {
                           return v.integer(t.partition.slots_per_node, 0, k_any);
                         }},
    Key<PartitionTarget>{"gpus_per_node",
                         [](const Value& v, PartitionTarget& t) {
                           return v.integer(t.partition.gpus_per_node, 0, k_any);
                         }},
    Key<PartitionTarget>{
        "default",
        [](const Value& v, PartitionTarget& t) { return v.boolean(t.partition.is_default); }},
    Key<PartitionTarget>{"pe_by_layout", read_layout},
};

Result<void> read_partitions(const Value& v, Walk& walk) {
  return v.entries([&](const std::string& name, const Value& value) -> Result<void> {
    if (name.empty() || name.find(',') != std::string::npos)
      return value.expected("a partition name without commas as its key");
    auto& partition = walk.config().partitions.emplace_back();
    partition.name = name;
    PartitionTarget target{partition, walk.notes};
    TRY(read_map(value, k_partition_keys, target, walk.notes));
    if (partition.is_default)
      for (const auto& other : walk.config().partitions)
        if (other.is_default && other.name != name)
          return value.expected("one default partition; " + other.name + " is marked already");
    return {};
  });
}

// ---- pes, gpu

struct PeTarget {
  TaskPolicy& policy;
};
constexpr std::array k_pe_keys{
    Key<PeTarget>{"task_policy",
                  [](const Value& v, PeTarget& t) { return read_task_policy(v, t.policy); }},
};

Result<void> read_pes(const Value& v, Walk& walk) {
  return v.entries([&](const std::string& name, const Value& value) -> Result<void> {
    TaskPolicy policy = walk.config().default_task_policy;
    bool given = false;
    const auto seen = value.entries([&](const std::string& key, const Value&) -> Result<void> {
      given = given || key == "task_policy";
      return {};
    });
    TRY(seen);
    PeTarget target{policy};
    TRY(read_map(value, k_pe_keys, target, walk.notes));
    if (given) walk.config().pe_task_policy[name] = policy;
    return {};
  });
}

constexpr std::array k_gpu_keys{
    Key<GpuConfig>{"discovery",
                   [](const Value& v, GpuConfig& g) {
                     return v.choice<bool>(
                         g.discovery,
                         {{"qstat-gres", true}, {"none", false}, {"off", false}, {"", false}});
                   }},
    Key<GpuConfig>{"isolation",
                   [](const Value& v, GpuConfig& g) {
                     return v.choice<bool>(g.isolation_shim, {{"shim", true}, {"cgroup", false}});
                   }},
    Key<GpuConfig>{"gres_complex",
                   [](const Value& v, GpuConfig& g) { return v.text(g.gres_complex); }},
    Key<GpuConfig>{"bind",
                   [](const Value& v, GpuConfig& g) {
                     return v.choice<bool>(g.bind_per_task, {{"none", false}, {"per-task", true}});
                   }},
    Key<GpuConfig>{"vendor",
                   [](const Value& v, GpuConfig& g) {
                     return v.word(g.vendor, {"auto", "nvidia", "amd"});
                   }},
    Key<GpuConfig>{"consumable",
                   [](const Value& v, GpuConfig& g) {
                     return v.word(g.consumable, {"auto", "slot", "host", "job"});
                   }},
    Key<GpuConfig>{"types", [](const Value& v, GpuConfig& g) { return v.text_map(g.types); }},
};

// ---- top level

Result<void> read_version(const Value& v, Walk& w) {
  TRY(v.text(w.config().compat_version));
  if (!is_version(w.config().compat_version)) return v.expected("a version such as 24.05.0");
  return {};
}

Result<void> read_ports(const Value& v, Walk& w) {
  std::string text;
  TRY(v.text(text));
  const auto ports = parse_port_range(text);
  if (!ports) return v.expected("a port range such as 61000-61439, or 0 for any");
  w.config().control_port = *ports;
  return {};
}

Result<void> read_job_records(const Value& v, Walk& w) {
  TRY(v.text(w.config().job_records));
  const auto& text = w.config().job_records;
  if (!text.empty() && text != "off" && !text.starts_with('/'))
    return v.expected("off or an absolute directory");
  return {};
}

Result<void> read_pe_name(const Value& v, Walk& w) {
  TRY(v.text(w.config().pe_name));
  if (w.config().pe_name.empty()) return v.expected("the name of a parallel environment");
  return {};
}

Result<void> read_qos(const Value& v, Walk& w) {
  return v.entries(
      [&](const std::string& name, const Value& args) { return args.texts(w.config().qos[name]); });
}

Result<void> read_launcher(const Value& v, Walk& w) {
  return v.choice<Launcher>(w.config().launcher,
                            {{"qrsh-inherit", Launcher::qrsh_inherit},
                             {"local", Launcher::local},
                             {"", Launcher::qrsh_inherit}});
}

Result<void> read_standalone(const Value& v, Walk& w) {
  return v.choice<Standalone>(w.config().standalone,
                              {{"auto", Standalone::automatic},
                               {"allocate", Standalone::allocate},
                               {"local", Standalone::local},
                               {"reject", Standalone::reject}});
}

template <bool Config::*Field> Result<void> flag(const Value& v, Walk& w) {
  return v.boolean(w.config().*Field);
}
template <std::string Config::*Field> Result<void> text(const Value& v, Walk& w) {
  return v.text(w.config().*Field);
}
template <milliseconds Config::*Field> Result<void> positive_time(const Value& v, Walk& w) {
  return v.duration(w.config().*Field, true);
}
template <std::map<std::string, std::string> Config::*Field>
Result<void> text_map(const Value& v, Walk& w) {
  return v.text_map(w.config().*Field);
}

constexpr std::array k_keys{
    Key<Walk>{"compat_version", read_version},
    Key<Walk>{"launcher", read_launcher},
    Key<Walk>{"standalone", read_standalone},
    Key<Walk>{"strict_flags", flag<&Config::strict_flags>},
    Key<Walk>{"kill_on_bad_exit", flag<&Config::kill_on_bad_exit>},
    Key<Walk>{"kill_wait",
              [](const Value& v, Walk& w) { return v.duration(w.config().kill_wait, false); }},
    Key<Walk>{"export_master_addr", flag<&Config::export_master_addr>},
    Key<Walk>{"master_port_base",
              [](const Value& v, Walk& w) {
                return v.integer(w.config().master_port_base, 1024, 65000);
              }},
    Key<Walk>{
        "master_port_range",
        [](const Value& v, Walk& w) { return v.integer(w.config().master_port_range, 1, 64512); }},
    Key<Walk>{"qstat_timeout", positive_time<&Config::qstat_timeout>},
    Key<Walk>{"memory_complex", text<&Config::memory_complex>},
    Key<Walk>{
        "memory_consumable",
        [](const Value& v, Walk& w) {
          return v.word(w.config().memory_consumable, {"auto", "slot", "host", "job", "none"});
        }},
    Key<Walk>{"tmp_complex", text<&Config::tmp_complex>},
    Key<Walk>{"emit_cpus_per_task", flag<&Config::emit_cpus_per_task>},
    Key<Walk>{"launch_ramp",
              [](const Value& v, Walk& w) { return v.integer(w.config().launch_ramp, 1, 65536); }},
    Key<Walk>{"launch_timeout", positive_time<&Config::launch_timeout>},
    Key<Walk>{"control_port", read_ports},
    Key<Walk>{"control_address", text<&Config::control_address>},
    Key<Walk>{"ping_interval", positive_time<&Config::ping_interval>},
    Key<Walk>{"ping_deadline", positive_time<&Config::ping_deadline>},
    Key<Walk>{"qacct_deadline", positive_time<&Config::qacct_deadline>},
    Key<Walk>{"job_name_sanitize", flag<&Config::job_name_sanitize>},
    Key<Walk>{"default_task_policy",
              [](const Value& v, Walk& w) {
                return read_task_policy(v, w.config().default_task_policy);
              }},
    Key<Walk>{"default_partition", text<&Config::default_partition>},
    Key<Walk>{"partitions", read_partitions},
    Key<Walk>{"partition_aliases", text_map<&Config::partition_aliases>},
    Key<Walk>{"pes", read_pes},
    Key<Walk>{
        "gpu",
        [](const Value& v, Walk& w) { return read_map(v, k_gpu_keys, w.config().gpu, w.notes); }},
    Key<Walk>{"array_job_ids",
              [](const Value& v, Walk& w) {
                return v.word(w.config().array_job_ids, {"unique", "shared"});
              }},
    Key<Walk>{"submit_check",
              [](const Value& v, Walk& w) {
                return v.choice<bool>(w.config().submit_check, {{"error", true}, {"none", false}});
              }},
    Key<Walk>{"job_records", read_job_records},
    Key<Walk>{"batch_supervisor",
              [](const Value& v, Walk& w) {
                return v.word(w.config().batch_supervisor, {"always", "needed"});
              }},
    Key<Walk>{"env_transport",
              [](const Value& v, Walk& w) {
                return v.word(w.config().env_transport, {"file", "qsub"});
              }},
    Key<Walk>{"output_mode",
              [](const Value& v, Walk& w) {
                return v.word(w.config().output_mode, {"auto", "ge"});
              }},
    Key<Walk>{"scancel_signal",
              [](const Value& v, Walk& w) {
                return v.word(w.config().scancel_signal, {"deliver", "requeue"});
              }},
    Key<Walk>{"reserve",
              [](const Value& v, Walk& w) {
                return v.word(w.config().reserve, {"multi_node", "always", "never"});
              }},
    Key<Walk>{"cpu_bind",
              [](const Value& v, Walk& w) {
                return v.word(w.config().cpu_bind, {"none", "cores"});
              }},
    Key<Walk>{"pe_name", read_pe_name},
    Key<Walk>{"honor_ge_directives", flag<&Config::honor_ge_directives>},
    Key<Walk>{"qsub_extra_args",
              [](const Value& v, Walk& w) { return v.texts(w.config().qsub_extra_args); }},
    Key<Walk>{"requeue_default", flag<&Config::requeue_default>},
    Key<Walk>{"afterok_check", flag<&Config::afterok_check>},
    Key<Walk>{"accounting_source",
              [](const Value& v, Walk& w) {
                return v.word(w.config().accounting_source, {"auto", "qacct", "jsonl"});
              }},
    Key<Walk>{"squeue_unknown_job",
              [](const Value& v, Walk& w) {
                return v.word(w.config().squeue_unknown_job, {"auto", "error", "empty"});
              }},
    Key<Walk>{"account_map",
              [](const Value& v, Walk& w) {
                return v.word(w.config().account_map, {"account", "project"});
              }},
    Key<Walk>{"features", text_map<&Config::features>},
    Key<Walk>{"licenses", text_map<&Config::licenses>},
    Key<Walk>{"gres_map", text_map<&Config::gres_map>},
    Key<Walk>{"qos", read_qos},
    Key<Walk>{"exclusive_complex", text<&Config::exclusive_complex>},
};

template <class Target, std::size_t N>
void add_names(std::vector<std::string>& out,
               const std::string& prefix,
               const std::array<Key<Target>, N>& table) {
  for (const auto& key : table)
    out.push_back(prefix + std::string(key.name));
}

} // namespace

std::vector<std::string> known_keys() {
  std::vector<std::string> names;
  add_names(names, "", k_keys);
  add_names(names, "partitions.*.", k_partition_keys);
  add_names(names, "partitions.*.pe_by_layout.", k_layout_keys);
  add_names(names, "pes.*.", k_pe_keys);
  add_names(names, "gpu.", k_gpu_keys);
  return names;
}

Result<Loaded> read_document(const YamlNode& root, const std::string& file, Lines& lines) {
  Loaded loaded;
  loaded.config.source = file;
  Walk walk{loaded, {loaded.warnings, lines}};
  const Value top(file, root, "", root.place);
  if (root.kind != YamlNode::Kind::null && root.kind != YamlNode::Kind::map)
    return fail_at(file, root.place, "expected a map of keys");
  TRY(read_map(top, k_keys, walk, walk.notes));
  if (loaded.config.master_port_base + loaded.config.master_port_range > 65536)
    return fail_at(file,
                   root.place,
                   "master_port_range: expected master_port_base + master_port_range to be at most "
                   "65536");
  return loaded;
}

} // namespace shim::config
