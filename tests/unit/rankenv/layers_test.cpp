// The cases recorded from the original, with the results this project wants where they differ.
#include "slurm_shim/rankenv/rankenv.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "support/case_file.h"

namespace shim::rankenv {
namespace {

using nlohmann::json;

std::vector<std::string> sorted(std::vector<std::string> entries) {
  std::sort(entries.begin(), entries.end());
  return entries;
}

std::vector<std::string> devices(const json& value) {
  std::vector<std::string> out;
  for (const auto& number : value)
    out.push_back(std::to_string(number.get<int>()));
  return out;
}

// The step's geometry, taken from the ranks of the case.
StepFacts facts_of(const json& c) {
  const EnvList recorded(c["base_env"].get<std::vector<std::string>>());
  StepFacts facts;
  facts.step_id = 5;
  facts.nodelist = recorded.get_or("SLURM_STEP_NODELIST", "");
  for (const auto& rank : c["ranks"]) {
    const auto node = rank["rank"]["node_id"].get<std::size_t>();
    if (facts.tasks_per_node.size() <= node) facts.tasks_per_node.resize(node + 1);
    ++facts.tasks_per_node[node];
  }
  facts.cpus_per_task = 1;
  facts.distribution = "block";
  facts.launch_node_ip = "10.0.0.11";
  return facts;
}

// What the recorded environment becomes under the decisions that override the original: bare names
// of --export are imported or dropped, an uneven step has no SLURM_NTASKS_PER_NODE, a step shadows
// SLURM_NNODES, a rank with devices has SLURM_STEP_GPUS. As in Slurm, --export without ALL leaves
// no HOME, PATH and USER, and with ALL a setting does not replace a value that is there.
std::vector<std::string> wanted(const json& c, const json& rank, const StepFacts& facts) {
  EnvList env(rank["final_env"].get<std::vector<std::string>>());
  const EnvList own(c["process_env"].get<std::vector<std::string>>());
  for (const auto& entry : rank["final_env"].get<std::vector<std::string>>())
    if (entry.find('=') == std::string::npos && own.has(entry)) env.set(entry, *own.get(entry));
  const auto spec = slurm::parse_export(c["export"].get<std::string>()).value();
  for (const auto* name : {"HOME", "PATH", "USER"})
    if (!spec.all) env.unset(name);
  for (const auto& setting : spec.settings)
    if (spec.all && own.has(setting.first)) env.set(setting.first, *own.get(setting.first));
  if (facts.tasks_per_node.front() != facts.tasks_per_node.back())
    env.unset("SLURM_NTASKS_PER_NODE");
  env.set("SLURM_NNODES", std::to_string(facts.tasks_per_node.size()));
  const auto gpus = devices(rank["rank"]["gpus"]);
  if (!gpus.empty()) env.set("SLURM_STEP_GPUS", gpus.front());
  return sorted(std::move(env).take());
}

TEST(Layers, recorded_cases) {
  for (const auto& c : test::cases_of("env_layers")) {
    SCOPED_TRACE(c["name"].get<std::string>());
    const auto facts = facts_of(c);
    EnvList env = filter_export(EnvList(c["process_env"].get<std::vector<std::string>>()),
                                slurm::parse_export(c["export"].get<std::string>()).value());
    apply_step_shadows(env, facts);
    for (const auto& rank : c["ranks"]) {
      const auto& spec = rank["rank"];
      const auto gpus = devices(spec["gpus"]);
      const auto delta = spec["env_delta"].get<std::vector<std::string>>();
      const EnvList recorded(delta);
      RankFacts rank_facts;
      rank_facts.rank = slurm::RankId{spec["rank"].get<int>()};
      rank_facts.local = slurm::LocalId{spec["local"].get<int>()};
      rank_facts.node = slurm::NodeIndex{spec["node_id"].get<int>()};
      const auto gtids = recorded.get_or("SLURM_GTIDS", "");
      rank_facts.gtids = gtids;
      rank_facts.cpus_on_node = std::stoi(recorded.get_or("SLURM_CPUS_ON_NODE", ""));
      rank_facts.gpus = &gpus;
      auto computed = rank_delta(rank_facts);
      const auto host = rank["host"].get<std::string>();
      const auto result = rank_environment(env, computed, {host, "CUDA_VISIBLE_DEVICES", &gpus});
      EXPECT_EQ(sorted(result.entries()), wanted(c, rank, facts));
      computed.resize(delta.size());
      EXPECT_EQ(computed, delta);
    }
  }
}

TEST(Layers, gtids_join_the_ranks_of_a_host) {
  EXPECT_EQ(gtids_text({slurm::RankId{4}, slurm::RankId{5}}), "4,5");
  EXPECT_EQ(gtids_text({}), "");
}

TEST(Layers, values_keep_the_place_of_the_first_occurrence) {
  EnvList env({"SLURM_NTASKS=16", "A=1"});
  StepFacts facts;
  facts.tasks_per_node = {2};
  facts.nodelist = "n1";
  apply_step_shadows(env, facts);
  EXPECT_EQ(env.entries()[0], "SLURM_NTASKS=2");
  EXPECT_EQ(env.entries()[1], "A=1");
}

TEST(Layers, distribution_is_cyclic_until_a_node_takes_two_tasks) {
  EXPECT_EQ(default_distribution(1, 1), "cyclic");
  EXPECT_EQ(default_distribution(4, 4), "cyclic");
  EXPECT_EQ(default_distribution(5, 4), "block");
}

TEST(Layers, step_values_of_the_job_stay_where_the_step_does_not_say) {
  EnvList env({"SLURM_CPUS_PER_TASK=2", "SLURM_JOB_NUM_NODES=4", "SLURM_JOB_NAME=job"});
  StepFacts facts;
  facts.tasks_per_node = {3, 3};
  apply_step_shadows(env, facts);
  EXPECT_EQ(env.get("SLURM_CPUS_PER_TASK"), "2");
  EXPECT_EQ(env.get("SLURM_JOB_NUM_NODES"), "4");
  EXPECT_EQ(env.get("SLURM_JOB_NAME"), "job");
  EXPECT_EQ(env.get("SLURM_NNODES"), "2");
  EXPECT_FALSE(env.has("SLURM_NTASKS_PER_NODE"));
  EXPECT_FALSE(env.has("SLURM_SRUN_COMM_HOST"));
}

TEST(Layers, step_says_what_slurm_says) {
  EnvList env({"SLURM_GPUS_ON_NODE=4", "SLURM_STEP_GPUS=0", "SLURM_JOB_NAME=job"});
  StepFacts facts;
  facts.step_id = 3;
  facts.tasks_per_node = {1, 1};
  facts.nodelist = "n[1-2]";
  facts.ntasks_per_node_given = true;
  facts.comm_host = "10.0.0.1";
  facts.comm_port = 61000;
  facts.umask = 022U;
  facts.job_name = "stepname";
  apply_step_shadows(env, facts);
  const std::vector<std::string> want = {
      "SLURM_DISTRIBUTION=cyclic",
      "SLURM_JOB_NAME=stepname",
      "SLURM_NNODES=2",
      "SLURM_NPROCS=2",
      "SLURM_NTASKS=2",
      "SLURM_NTASKS_PER_NODE=1",
      "SLURM_SRUN_COMM_HOST=10.0.0.1",
      "SLURM_SRUN_COMM_PORT=61000",
      "SLURM_STEPID=3",
      "SLURM_STEP_ID=3",
      "SLURM_STEP_LAUNCHER_PORT=61000",
      "SLURM_STEP_NODELIST=n[1-2]",
      "SLURM_STEP_NUM_NODES=2",
      "SLURM_STEP_NUM_TASKS=2",
      "SLURM_STEP_TASKS_PER_NODE=1(x2)",
      "SLURM_TASKS_PER_NODE=1(x2)",
      "SLURM_UMASK=0022",
  };
  EXPECT_EQ(sorted(env.entries()), want);
}

TEST(Layers, exactly_one_mask_and_no_stale_task_pid) {
  const EnvList step({"CUDA_VISIBLE_DEVICES=7", "ZE_AFFINITY_MASK=1", "SLURM_TASK_PID=9"});
  const std::vector<std::string> gpus = {"4", "6"};
  const auto env = rank_environment(step, {}, {"n1", "ROCR_VISIBLE_DEVICES", &gpus});
  const std::vector<std::string> want = {"ROCR_VISIBLE_DEVICES=4,6", "SLURMD_NODENAME=n1"};
  EXPECT_EQ(sorted(env.entries()), want);
}

TEST(Layers, without_devices_the_masks_are_left_alone) {
  const EnvList step({"CUDA_VISIBLE_DEVICES=7"});
  EXPECT_EQ(rank_environment(step, {}, {"n1", "CUDA_VISIBLE_DEVICES", nullptr}).entries()[0],
            "CUDA_VISIBLE_DEVICES=7");
}

TEST(Layers, only_two_mask_variables_are_known) {
  EXPECT_TRUE(is_gpu_variable(""));
  EXPECT_TRUE(is_gpu_variable("ROCR_VISIBLE_DEVICES"));
  EXPECT_FALSE(is_gpu_variable("LD_PRELOAD"));
}

} // namespace
} // namespace shim::rankenv
