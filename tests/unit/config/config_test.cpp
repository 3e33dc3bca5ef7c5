#include "slurm_shim/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace shim::config {

namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::StartsWith;

Config good(std::string_view yaml) {
  const auto loaded = parse(yaml, "c.yaml");
  EXPECT_TRUE(loaded) << loaded.error().message;
  return loaded ? loaded->config : Config{};
}

std::string error_of(std::string_view yaml) {
  const auto loaded = parse(yaml, "c.yaml");
  if (loaded) return "(accepted)";
  EXPECT_EQ(loaded.error().kind, ErrorKind::config);
  EXPECT_EQ(loaded.error().exit_code, 1);
  return loaded.error().message;
}

TEST(Config, nothing_written_means_the_defaults) {
  for (const auto* yaml : {"", "# only a comment\n", "---\n", "partitions:\ngpu:\npes:\n"}) {
    const auto config = good(yaml);
    EXPECT_EQ(config.compat_version, "24.05.0");
    EXPECT_EQ(config.standalone, Standalone::automatic);
    EXPECT_FALSE(config.kill_on_bad_exit);
    EXPECT_EQ(config.kill_wait, seconds(30));
    EXPECT_EQ(config.control_port.first, 61000);
    EXPECT_EQ(config.control_port.last, 61439);
    EXPECT_EQ(config.default_task_policy, TaskPolicy::node);
    EXPECT_TRUE(config.partitions.empty());
    EXPECT_EQ(config.pe_name, "slurm-shim");
  }
}

constexpr std::string_view k_everything = R"(
compat_version: "22.05.8"
launcher: local
standalone: reject
strict_flags: true
kill_on_bad_exit: yes
kill_wait: 1m30s
export_master_addr: on
master_port_base: 30000
master_port_range: 010        # ten: no octal here
qstat_timeout: 2.5s
memory_complex: ""
memory_consumable: host
emit_cpus_per_task: true
launch_ramp: 8
launch_timeout: 2m
control_port: "50000-50010"
control_address: ib0
ping_interval: 5s
ping_deadline: 1h
qacct_deadline: 100ms
job_name_sanitize: false
default_task_policy: gpu
default_partition: whole
partitions:
  batch: {queue: all.q, slots: 4, default: true}
  whole:
    queue: all.q
    pe: mpi
    slots: "per-node:64"
    max_time: "2-00:00:00"
    default_time: 90
    slots_per_node: 64
    pe_by_layout: {pe_slots: smp, fill_up: fill, round_robin: rr, fixed: {1: one, 8: eight}}
partition_aliases: {maint.q: maintenance}
pes: {mpi: {task_policy: slot}}
gpu:
  discovery: none
  isolation: cgroup
  gres_complex: ngpus
  bind: per-task
  vendor: amd
  consumable: host
  types: {a100: "gpu_type=a100"}
array_job_ids: shared
submit_check: none
job_records: off
batch_supervisor: needed
env_transport: qsub
output_mode: ge
scancel_signal: requeue
reserve: never
cpu_bind: cores
pe_name: other
honor_ge_directives: true
qsub_extra_args: [-P, site, "-l", 'x=1']
requeue_default: false
afterok_check: false
accounting_source: jsonl
squeue_unknown_job: empty
account_map: project
features: {ssd: "disk=ssd"}
licenses: {matlab: mlic}
gres_map: {shard: vgpu}
qos: {high: [-p, "10"]}
exclusive_complex: excl
)";

TEST(Config, reads_every_key) {
  const auto loaded = parse(k_everything, "c.yaml");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_TRUE(loaded->warnings.empty());
  const auto& c = loaded->config;
  EXPECT_EQ(c.source, "c.yaml");
  EXPECT_EQ(c.compat_version, "22.05.8");
  EXPECT_EQ(c.launcher, Launcher::local);
  EXPECT_EQ(c.standalone, Standalone::reject);
  EXPECT_TRUE(c.strict_flags && c.kill_on_bad_exit && c.export_master_addr && c.emit_cpus_per_task);
  EXPECT_EQ(c.kill_wait, seconds(90));
  EXPECT_EQ(c.master_port_base, 30000);
  EXPECT_EQ(c.master_port_range, 10);
  EXPECT_EQ(c.qstat_timeout, milliseconds(2500));
  EXPECT_EQ(c.memory_complex, "");
  EXPECT_EQ(c.memory_consumable, "host");
  EXPECT_EQ(c.launch_ramp, 8);
  EXPECT_EQ(c.launch_timeout, minutes(2));
  EXPECT_EQ(c.control_port.first, 50000);
  EXPECT_EQ(c.control_port.last, 50010);
  EXPECT_EQ(c.control_address, "ib0");
  EXPECT_EQ(c.ping_interval, seconds(5));
  EXPECT_EQ(c.ping_deadline, hours(1));
  EXPECT_EQ(c.qacct_deadline, milliseconds(100));
  EXPECT_FALSE(c.job_name_sanitize);
  EXPECT_EQ(c.default_task_policy, TaskPolicy::gpu);
  EXPECT_EQ(c.pe_task_policy.at("mpi"), TaskPolicy::slot);
  EXPECT_EQ(c.partition_aliases.at("maint.q"), "maintenance");
  EXPECT_FALSE(c.gpu.discovery || c.gpu.isolation_shim);
  EXPECT_TRUE(c.gpu.bind_per_task);
  EXPECT_EQ(c.gpu.gres_complex + c.gpu.vendor + c.gpu.consumable, "ngpusamdhost");
  EXPECT_EQ(c.gpu.types.at("a100"), "gpu_type=a100");
  EXPECT_EQ(c.array_job_ids + c.job_records + c.batch_supervisor, "sharedoffneeded");
  EXPECT_FALSE(c.submit_check);
  EXPECT_EQ(c.env_transport + c.output_mode + c.scancel_signal, "qsubgerequeue");
  EXPECT_EQ(c.reserve + c.cpu_bind + c.pe_name, "nevercoresother");
  EXPECT_TRUE(c.honor_ge_directives);
  EXPECT_EQ(c.qsub_extra_args, (std::vector<std::string>{"-P", "site", "-l", "x=1"}));
  EXPECT_FALSE(c.requeue_default || c.afterok_check);
  EXPECT_EQ(c.accounting_source + c.squeue_unknown_job + c.account_map, "jsonlemptyproject");
  EXPECT_EQ(c.features.at("ssd") + c.licenses.at("matlab") + c.gres_map.at("shard"),
            "disk=ssdmlicvgpu");
  EXPECT_EQ(c.qos.at("high"), (std::vector<std::string>{"-p", "10"}));
  EXPECT_EQ(c.exclusive_complex, "excl");
}

TEST(Config, keeps_partitions_in_file_order) {
  const auto c = good(k_everything);
  ASSERT_EQ(c.partitions.size(), 2U);
  const auto& batch = c.partitions[0];
  EXPECT_EQ(batch.name + "|" + batch.queue + "|" + batch.pe + "|" + batch.slots, "batch|all.q||4");
  EXPECT_TRUE(batch.is_default);
  const auto* whole = c.find_partition("whole");
  ASSERT_NE(whole, nullptr);
  EXPECT_EQ(whole->max_time_min, 2880);
  EXPECT_EQ(whole->default_time_min, 90);
  EXPECT_EQ(whole->slots_per_node, 64);
  EXPECT_EQ(whole->pe_by_layout.fixed.at(8), "eight");
  EXPECT_EQ(whole->pe_by_layout.pe_slots, "smp");
  EXPECT_EQ(c.find_partition("nope"), nullptr);
  EXPECT_EQ(c.default_partition_name(), "whole");
  EXPECT_EQ(good("partitions: {a: {}, b: {default: true}}").default_partition_name(), "b");
}

TEST(Config, names_a_queues_partition_only_when_it_is_certain) {
  const auto c = good("partitions: {a: {queue: x.q}, b: {queue: y.q}, c: {queue: y.q}}\n"
                      "partition_aliases: {z.q: zed}\n");
  EXPECT_EQ(c.partition_of_queue("x.q"), "a");
  EXPECT_EQ(c.partition_of_queue("y.q"), "y.q");
  EXPECT_EQ(c.partition_of_queue("z.q"), "zed");
  EXPECT_EQ(c.partition_of_queue("other.q"), "other.q");
}

TEST(Config, warns_of_unknown_keys_at_every_level_in_file_order) {
  const auto loaded = parse("future_key: 1\n"
                            "gpu:\n  bogus: {deep: [1, 2]}\n"
                            "partitions:\n  a: {queue: q, color: red, pe_by_layout: {best: x}}\n"
                            "pes: {mpi: {policy: slot}}\n",
                            "c.yaml");
  ASSERT_TRUE(loaded);
  EXPECT_EQ(
      loaded->warnings,
      (std::vector<std::string>{
          "config: c.yaml:1:1: unknown config key \"future_key\" ignored",
          "config: c.yaml:3:3: unknown config key \"gpu.bogus\" ignored",
          "config: c.yaml:5:17: unknown config key \"partitions.a.color\" ignored",
          "config: c.yaml:5:44: unknown config key \"partitions.a.pe_by_layout.best\" ignored",
          "config: c.yaml:6:13: unknown config key \"pes.mpi.policy\" ignored"}));
  EXPECT_TRUE(loaded->config.pe_task_policy.empty());
}

TEST(Config, says_where_a_value_is_wrong_and_what_it_expected) {
  EXPECT_EQ(error_of("\nkill_wait: 30\n"),
            "config: c.yaml:2:12: kill_wait: expected a duration with a unit, such as 30s, found "
            "\"30\"");
  EXPECT_EQ(
      error_of("partitions:\n  gpu:\n    slots: 0\n"),
      "config: c.yaml:3:12: partitions.gpu.slots: expected per-task, per-node:<k> or a number "
      "above zero, found \"0\"");
  EXPECT_EQ(error_of("launcher: ssh"),
            "config: c.yaml:1:11: launcher: expected one of qrsh-inherit, local, found \"ssh\"");
  EXPECT_EQ(error_of("qsub_extra_args: [a, [b]]"),
            "config: c.yaml:1:22: qsub_extra_args[1]: expected a string");
}

struct Bad {
  const char* yaml;
  const char* path;
};

TEST(Config, refuses_every_bad_value) {
  for (const auto& [yaml, path] : {
           Bad{"compat_version: 24.05", "compat_version"},
           Bad{"compat_version: 24.05.x", "compat_version"},
           Bad{"standalone: maybe", "standalone"},
           Bad{"strict_flags: 1", "strict_flags"},
           Bad{"kill_on_bad_exit: {}", "kill_on_bad_exit"},
           Bad{"kill_wait: -2s", "kill_wait"},
           Bad{"kill_wait: 3weeks", "kill_wait"},
           Bad{"kill_wait: 1h30", "kill_wait"},
           Bad{"kill_wait: .s", "kill_wait"},
           Bad{"kill_wait: 99999999999999999999h", "kill_wait"},
           Bad{"kill_wait:", "kill_wait"},
           Bad{"master_port_base: 80", "master_port_base"},
           Bad{"master_port_base: 0x5000", "master_port_base"},
           Bad{"master_port_range: 0", "master_port_range"},
           Bad{"master_port_base: 60000", "master_port_range"},
           Bad{"qstat_timeout: 0", "qstat_timeout"},
           Bad{"qstat_timeout: 0s", "qstat_timeout"},
           Bad{"memory_complex: [a]", "memory_complex"},
           Bad{"memory_consumable: node", "memory_consumable"},
           Bad{"launch_ramp: 0", "launch_ramp"},
           Bad{"launch_ramp: 1.5", "launch_ramp"},
           Bad{"launch_ramp: 99999999999", "launch_ramp"},
           Bad{"launch_timeout: 0", "launch_timeout"},
           Bad{"control_port: 61439-61000", "control_port"},
           Bad{"control_port: 0-70000", "control_port"},
           Bad{"control_port: abc", "control_port"},
           Bad{"ping_interval: 0", "ping_interval"},
           Bad{"ping_deadline: 5", "ping_deadline"},
           Bad{"qacct_deadline: x", "qacct_deadline"},
           Bad{"default_task_policy: host", "default_task_policy"},
           Bad{"partitions: [a]", "partitions"},
           Bad{"partitions: {a: q}", "partitions.a"},
           Bad{"partitions: {\"a,b\": {}}", "partitions.a,b"},
           Bad{"partitions: {a: {slots: per-node}}", "partitions.a.slots"},
           Bad{"partitions: {a: {slots: \"per-node:x\"}}", "partitions.a.slots"},
           Bad{"partitions: {a: {max_time: soon}}", "partitions.a.max_time"},
           Bad{"partitions: {a: {default_time: 1h}}", "partitions.a.default_time"},
           Bad{"partitions: {a: {slots_per_node: -1}}", "partitions.a.slots_per_node"},
           Bad{"partitions: {a: {default: true}, b: {default: true}}", "partitions.b"},
           Bad{"partitions: {a: {pe_by_layout: {fixed: {0: x}}}}", "partitions.a.pe_by_layout"},
           Bad{"partitions: {a: {pe_by_layout: {fixed: [x]}}}", "partitions.a.pe_by_layout.fixed"},
           Bad{"partition_aliases: {a: {b: c}}", "partition_aliases.a"},
           Bad{"pes: {a: {task_policy: all}}", "pes.a.task_policy"},
           Bad{"gpu: {discovery: nvidia-smi}", "gpu.discovery"},
           Bad{"gpu: {isolation: none}", "gpu.isolation"},
           Bad{"gpu: {bind: closest}", "gpu.bind"},
           Bad{"gpu: {vendor: intel}", "gpu.vendor"},
           Bad{"gpu: {consumable: all}", "gpu.consumable"},
           Bad{"gpu: 1", "gpu"},
           Bad{"array_job_ids: both", "array_job_ids"},
           Bad{"submit_check: warn", "submit_check"},
           Bad{"job_records: records", "job_records"},
           Bad{"batch_supervisor: never", "batch_supervisor"},
           Bad{"env_transport: scp", "env_transport"},
           Bad{"output_mode: x", "output_mode"},
           Bad{"scancel_signal: kill", "scancel_signal"},
           Bad{"reserve: yes", "reserve"},
           Bad{"cpu_bind: sockets", "cpu_bind"},
           Bad{"pe_name: \"\"", "pe_name"},
           Bad{"qsub_extra_args: -V", "qsub_extra_args"},
           Bad{"accounting_source: db", "accounting_source"},
           Bad{"squeue_unknown_job: maybe", "squeue_unknown_job"},
           Bad{"account_map: both", "account_map"},
           Bad{"features: [a]", "features"},
           Bad{"qos: {high: -p}", "qos.high"},
       }) {
    const auto message = error_of(yaml);
    EXPECT_THAT(message, StartsWith("config: c.yaml:1:")) << yaml;
    EXPECT_THAT(message, HasSubstr(std::string(": ") + path)) << yaml;
    EXPECT_THAT(message, HasSubstr("expected")) << yaml;
  }
}

TEST(Config, refuses_malformed_yaml_with_its_place) {
  for (const auto* yaml : {"launcher: [x\n",
                           "a: b: c\n",
                           "- a\n",
                           "word\n",
                           "gpu: {bind: none",
                           "\"unclosed",
                           "a: &x 1\nb: *x\n",
                           "a: !!str 1\n",
                           "a: 1\n---\nb: 2\n",
                           "? [a]\n: b\n",
                           "\ta: 1\n",
                           "a: 1\na: 2\n",
                           "gpu: {vendor: auto, vendor: amd}\n"}) {
    EXPECT_THAT(error_of(yaml), testing::ContainsRegex("^config: c.yaml:[0-9]+:[0-9]+: .")) << yaml;
  }
  EXPECT_THAT(error_of("launcher: local\nlauncher: local\n"),
              StartsWith("config: c.yaml:2:1: duplicate key \"launcher\""));
  EXPECT_EQ(error_of(std::string_view("a: 1\nb: \0x\n", 11)),
            "config: c.yaml:2:1: holds a NUL byte");
}

TEST(Config, bounds_nesting) {
  EXPECT_THAT(error_of("x: " + std::string(100, '[') + std::string(100, ']')),
              HasSubstr("nested too deeply"));
  EXPECT_THAT(error_of("x: " + std::string(100000, '[')), StartsWith("config: c.yaml:"));
  EXPECT_THAT(error_of(std::string(100000, '{')), StartsWith("config: c.yaml:"));
}

class ConfigFile : public testing::Test {
protected:
  void SetUp() override {
    m_dir = testing::TempDir() + "config." + std::to_string(::getpid());
    std::filesystem::create_directories(m_dir + "/bin");
    std::filesystem::create_directories(m_dir + "/etc");
  }
  void TearDown() override { std::filesystem::remove_all(m_dir); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(m_dir + "/" + name) << text;
  }
  std::string m_dir;
};

TEST_F(ConfigFile, is_found_by_variable_then_beside_the_binary) {
  write("mine.yaml", "");
  EXPECT_EQ(locate(EnvList({"SLURM_SHIM_CONFIG=" + m_dir + "/mine.yaml"}), ""),
            m_dir + "/mine.yaml");
  // A file that was named and is missing means the defaults, not the next place.
  write("etc/config.yaml", "");
  EXPECT_EQ(locate(EnvList({"SLURM_SHIM_CONFIG=" + m_dir + "/none"}), m_dir + "/bin/slurm-shim"),
            "");
  if (!std::filesystem::exists("/etc/slurm-shim/config.yaml")) {
    EXPECT_EQ(locate(EnvList({"SLURM_SHIM_CONFIG="}), m_dir + "/bin/slurm-shim"),
              m_dir + "/etc/config.yaml");
    EXPECT_EQ(locate(EnvList{}, m_dir + "/bin/x/slurm-shim"), "");
  }
}

TEST_F(ConfigFile, names_itself_in_errors) {
  write("bad.yaml", "a: 1\ngpu: [\n");
  const auto path = m_dir + "/bad.yaml";
  EXPECT_THAT(load_file(path).error().message, StartsWith("config: " + path + ":"));
  EXPECT_THAT(load_file(m_dir + "/etc").error().message, StartsWith("config: " + m_dir + "/etc"));
  write("good.yaml", "launch_ramp: 3\n");
  EXPECT_EQ(load_file(m_dir + "/good.yaml")->config.launch_ramp, 3);
}

} // namespace

} // namespace shim::config
