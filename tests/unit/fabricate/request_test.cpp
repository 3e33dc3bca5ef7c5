// Jobs from sbatch: the submit record decides, and the batch environment is Slurm's.
#include "slurm_shim/fabricate/fabricate.h"
#include "slurm_shim/fabricate/variables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace shim::fabricate {
namespace {

using Pairs = std::map<std::string, std::string>;

JobFacts job(const std::vector<int>& slots, const Pairs& record) {
  JobFacts facts;
  facts.env = EnvList({"JOB_ID=42", "PE=slurm-shim", "QUEUE=batch.q", "SGE_TASK_ID=undefined"});
  for (std::size_t i = 0; i < slots.size(); ++i)
    facts.hosts.push_back({"n" + std::to_string(i + 1), slots[i], "batch.q@n1", ""});
  facts.record.emplace();
  facts.record->set("tok", "9f3c21d07be84a55");
  facts.record->set("dir", "/home/u/.local/state/slurm-shim/default");
  facts.record->set("name", "my job");
  for (const auto& [key, value] : record)
    facts.record->set(key, value);
  return facts;
}

Pairs made(const JobFacts& facts) {
  const auto out = fabricate(facts);
  EXPECT_TRUE(out) << out.error().message;
  EXPECT_TRUE(out->warnings.empty());
  return {out->exports.begin(), out->exports.end()};
}

std::string value(const Pairs& env, const std::string& name) {
  const auto it = env.find(name);
  return it == env.end() ? "(unset)" : it->second;
}

// As Slurm 22.05 set them for these submissions.
TEST(FromSbatch, geometry_variables_are_slurms) {
  struct Row {
    std::vector<int> slots;
    Pairs record;
    const char *tasks_per_node, *ntasks, *ntasks_per_node, *cpus_per_task, *cpus_per_node;
  };
  const char* none = "(unset)";
  const Row rows[] = {
      {{4}, {{"nodes", "1"}, {"tpn", "4"}, {"ntasks", "4"}}, "4", "4", none, none, "4"},
      {{1, 1}, {{"nodes", "2"}, {"tpn", "1"}}, "1(x2)", none, none, none, "1(x2)"},
      {{3, 1}, {{"nodes", "2"}, {"tpn", "3,1"}, {"ntasks", "4"}}, "3,1", "4", none, none, "3,1"},
      {{1, 3}, {{"nodes", "2"}, {"tpn", "3,1"}, {"ntasks", "4"}}, "1,3", "4", none, none, "1,3"},
      {{2, 2, 2, 2},
       {{"nodes", "4"}, {"tpn", "2"}, {"ntasks", "8"}, {"npn", "2"}},
       "2(x4)",
       "8",
       "2",
       none,
       "2(x4)"},
      {{8, 4}, {{"ntasks", "12"}}, "8,4", "12", none, none, "8,4"},
      {{6, 2},
       {{"nodes", "2"}, {"tpn", "3,1"}, {"ntasks", "4"}, {"cpt", "2"}},
       "3,1",
       "4",
       none,
       "2",
       "6,2"},
      {{4}, {{"cpt", "4"}}, "1", none, none, "4", "4"},
      {{8}, {{"nodes", "1"}, {"tpn", "1"}, {"ntasks", "1"}}, "1", "1", none, none, "8"},
  };
  for (const auto& row : rows) {
    const auto env = made(job(row.slots, row.record));
    EXPECT_EQ(value(env, "SLURM_TASKS_PER_NODE"), row.tasks_per_node);
    EXPECT_EQ(value(env, "SLURM_NTASKS"), row.ntasks);
    EXPECT_EQ(value(env, "SLURM_NPROCS"), row.ntasks);
    EXPECT_EQ(value(env, "SLURM_NTASKS_PER_NODE"), row.ntasks_per_node);
    EXPECT_EQ(value(env, "SLURM_CPUS_PER_TASK"), row.cpus_per_task);
    EXPECT_EQ(value(env, "SLURM_JOB_CPUS_PER_NODE"), row.cpus_per_node);
  }
}

TEST(FromSbatch, what_was_asked_is_what_the_job_sees) {
  const auto env = made(job({2},
                            {{"nodes", "1"},
                             {"part", "debug"},
                             {"acct", "acct1"},
                             {"sdir", "/home/u/p"},
                             {"shost", "login"},
                             {"mem", "1024"},
                             {"memper", "gpu"},
                             {"gpus", "2"},
                             {"gbind", "single:1"},
                             {"export", "ALL,FOO=7"},
                             {"openmode", "a"},
                             {"dist", "plane=3"},
                             {"hint", "nomultithread"}}));
  const Pairs want = {{"SLURM_JOB_NAME", "my job"},
                      {"SLURM_JOB_PARTITION", "debug"},
                      {"SLURM_JOB_ACCOUNT", "acct1"},
                      {"SLURM_SUBMIT_DIR", "/home/u/p"},
                      {"SLURM_SUBMIT_HOST", "login"},
                      {"SLURM_MEM_PER_GPU", "1024"},
                      {"SLURM_MEM_PER_NODE", "(unset)"},
                      {"SLURM_GPUS", "2"},
                      {"SLURM_GPU_BIND", "single:1"},
                      {"SLURM_EXPORT_ENV", "ALL,FOO=7"},
                      {"SLURM_GET_USER_ENV", "1"},
                      {"SLURM_OPEN_MODE", "a"},
                      {"SLURM_DISTRIBUTION", "plane"},
                      {"SLURM_DIST_PLANESIZE", "3"},
                      {"SLURM_HINT", "nomultithread"},
                      {"SLURM_RESTART_COUNT", "(unset)"},
                      {"SLURMD_NODENAME", "n1"}};
  for (const auto& [name, wanted] : want)
    EXPECT_EQ(value(env, name), wanted) << name;
}

TEST(FromSbatch, defaults_are_not_told) {
  const auto env = made(job({2}, {{"nodes", "1"}, {"export", "ALL"}, {"openmode", "t"}}));
  for (const auto* name : {"SLURM_EXPORT_ENV",
                           "SLURM_OPEN_MODE",
                           "SLURM_DISTRIBUTION",
                           "SLURM_MEM_PER_NODE",
                           "SLURM_NTASKS",
                           "SLURM_GPUS_PER_NODE"})
    EXPECT_EQ(value(env, name), "(unset)") << name;
}

TEST(FromSbatch, gpus_per_node_are_told_of_the_option_but_not_of_gres) {
  const auto env = made(job({2}, {{"nodes", "1"}, {"gpn", "2"}}));
  EXPECT_EQ(value(env, "SLURM_GPUS_PER_NODE"), "2");
  const auto gres = made(job({2}, {{"nodes", "1"}, {"gpn", "2"}, {"tres", "gres:gpu:2"}}));
  EXPECT_EQ(value(gres, "SLURM_GPUS_PER_NODE"), "(unset)");
}

TEST(FromSbatch, the_script_sees_its_devices_by_one_mask) {
  auto facts = job({2, 2}, {{"nodes", "2"}, {"gpn", "1"}});
  facts.device_variable = "CUDA_VISIBLE_DEVICES";
  facts.detail = ge::JobDetail{{{"gpu", "n1", {"GPU-8932f937", "3"}}, {"gpu", "n2", {"0"}}}, {}};
  const auto granted = fabricate(facts).value();
  const EnvList env([&] {
    std::vector<std::string> entries;
    for (const auto& [name, text] : granted.exports)
      entries.push_back(name + "=" + text);
    return entries;
  }());
  EXPECT_EQ(env.get("CUDA_VISIBLE_DEVICES"), "GPU-8932f937,3");
  EXPECT_EQ(env.get("SLURM_JOB_GPUS"), "GPU-8932f937,3");
  EXPECT_EQ(env.get("SLURM_GPUS_ON_NODE"), "2");
  EXPECT_EQ(env.get("SLURM_SHIM_GPU_VARIABLE"), "CUDA_VISIBLE_DEVICES");
  const auto has = [](const Fabricated& made, std::string_view line) {
    return made.environment.find(line) != std::string::npos;
  };
  EXPECT_TRUE(has(granted, "unset ROCR_VISIBLE_DEVICES\n"));
  facts.device_variable = ""; // gpu.isolation: cgroup
  const auto cgroup = fabricate(facts).value();
  EXPECT_FALSE(has(cgroup, "VISIBLE_DEVICES"));
  EXPECT_TRUE(has(cgroup, "export SLURM_JOB_GPUS='GPU-8932f937,3'\n"));
  facts.device_variable = "CUDA_VISIBLE_DEVICES";
  facts.detail = ge::JobDetail{{{"gpu", "n1", {}}, {"gpu", "n2", {}}}, {}}; // granted ()
  const auto none = fabricate(facts).value();
  EXPECT_FALSE(has(none, "VISIBLE_DEVICES"));
  EXPECT_FALSE(has(none, "export SLURM_JOB_GPUS"));
}

TEST(FromSbatch, a_request_that_does_not_fit_gives_way_to_the_policy) {
  struct Row {
    std::vector<int> slots;
    Pairs record;
  };
  const Row rows[] = {
      {{2, 2}, {{"nodes", "3"}, {"tpn", "1"}}},
      {{2, 2}, {{"nodes", "2"}, {"tpn", "3"}}},
      {{2, 2}, {{"nodes", "2"}, {"tpn", "2"}, {"cpt", "2"}}},
      {{2, 2}, {{"ntasks", "5"}}},
      {{2, 2}, {{"ntasks", "1"}}},
      {{2, 2}, {{"nodes", "x"}}},
      {{2, 2}, {{"nodes", "2"}, {"tpn", "1,x"}}},
      {{2, 2}, {{"nodes", "2"}, {"tpn", ""}}},
  };
  for (const auto& row : rows) {
    const auto out = fabricate(job(row.slots, row.record));
    ASSERT_TRUE(out);
    EXPECT_EQ(out->layout.tasks.per_node, (std::vector<int>{1, 1}));
    EXPECT_EQ(out->layout.job.task_policy, "node");
    ASSERT_FALSE(out->warnings.empty());
    EXPECT_EQ(out->warnings[0],
              "the submit record does not fit the granted hosts and slots; using the task policy");
    const Pairs env(out->exports.begin(), out->exports.end());
    EXPECT_EQ(value(env, "SLURM_NTASKS"), "2");
    EXPECT_EQ(value(env, "SLURM_CPUS_PER_TASK"), "2");
  }
}

TEST(FromSbatch, arrays_follow_the_map_of_the_record) {
  auto facts = job({1}, {{"nodes", "1"}, {"array", "2,5,7%2"}});
  facts.env.set("SGE_TASK_ID", "3");
  facts.env.set("SGE_TASK_FIRST", "1");
  facts.env.set("SGE_TASK_LAST", "3");
  auto env = made(facts);
  EXPECT_EQ(value(env, "SLURM_ARRAY_TASK_ID"), "7");
  EXPECT_EQ(value(env, "SLURM_ARRAY_TASK_MIN"), "2");
  EXPECT_EQ(value(env, "SLURM_ARRAY_TASK_MAX"), "7");
  EXPECT_EQ(value(env, "SLURM_ARRAY_TASK_COUNT"), "3");
  EXPECT_EQ(value(env, "SLURM_ARRAY_TASK_STEP"), "1");
  EXPECT_EQ(value(env, "SLURM_ARRAY_JOB_ID"), "42");
  EXPECT_EQ(value(env, "SLURM_JOB_ID"), "30000099");
  EXPECT_EQ(fabricate(facts)->layout.job.array_task_id, 3);

  facts.record->set("array", "3-9:3"); // the engine numbers these itself
  facts.env.set("SGE_TASK_ID", "6");
  env = made(facts);
  EXPECT_EQ(value(env, "SLURM_ARRAY_TASK_ID"), "6");
  EXPECT_EQ(value(env, "SLURM_ARRAY_TASK_STEP"), "3");
  EXPECT_EQ(value(env, "SLURM_JOB_ID"), "20000080");

  facts.config.array_job_ids = "shared";
  EXPECT_EQ(value(made(facts), "SLURM_JOB_ID"), "42");
}

TEST(FromSbatch, batch_json_holds_the_decoded_record) {
  auto facts = job({1},
                   {{"array", "0,5"},
                    {"env", "1"},
                    {"out", "o-%A_%a"},
                    {"err", "e"},
                    {"in", "i"},
                    {"openmode", "a"},
                    {"sig", "USR2@90B"},
                    {"time", "5"},
                    {"kw", "7000"},
                    {"rec", "0"},
                    {"requeue", "0"},
                    {"dep", "afterok:12,afterany:13"},
                    {"argv", std::string("sh\0\0a b\0", 8)}});
  facts.env.set("SGE_TASK_ID", "2");
  facts.user = "u";
  facts.restart = 1;
  const auto out = batch_job(facts, "n1", "/home/u/w");
  EXPECT_EQ(out.tok, "9f3c21d07be84a55");
  EXPECT_EQ(out.job, 42);
  EXPECT_EQ(out.task, 2);
  EXPECT_EQ(out.slurm_id, 20000080);
  EXPECT_EQ(out.index, 5);
  EXPECT_TRUE(out.env);
  EXPECT_EQ(out.name, "my job");
  EXPECT_EQ(out.out, "o-%A_%a");
  EXPECT_EQ(out.err, "e");
  EXPECT_EQ(out.in, "i");
  EXPECT_TRUE(out.open_append);
  EXPECT_EQ(out.wd, "/home/u/w");
  EXPECT_EQ(out.signal, (records::SignalRequest{12, 90, true}));
  EXPECT_EQ(out.limit_s, 300);
  EXPECT_EQ(out.kill_wait_ms, 7000);
  EXPECT_FALSE(out.records);
  EXPECT_FALSE(out.requeue);
  EXPECT_EQ(out.restart, 1);
  EXPECT_EQ(out.command, (std::vector<std::string>{"sh", "", "a b"}));
  EXPECT_EQ(out.start_s, facts.now_unix);
  EXPECT_FALSE(out.never);
}

TEST(FromSbatch, a_deadline_bounds_the_run_or_forbids_it) {
  struct Case {
    const char* time;
    const char* least;
    std::int64_t left;
    std::optional<std::int64_t> limit;
    bool runs;
  };
  const Case cases[] = {
      {"5", "", 300, 300, true},
      {"5", "", 299, 299, false},
      {"5", "2", 120, 120, true},
      {"5", "2", 119, 119, false},
      {"5", "", 900, 300, true},
      {"", "", 10, 10, true},
      {"", "", 0, 0, false},
  };
  for (const auto& c : cases) {
    auto facts = job({1}, {{"deadline", std::to_string(1796002949 + c.left)}});
    if (*c.time != '\0') facts.record->set("time", c.time);
    if (*c.least != '\0') facts.record->set("timemin", c.least);
    facts.now_unix = 1796002949;
    const auto out = batch_job(facts, "n1", "/");
    EXPECT_EQ(out.limit_s, c.limit) << c.left;
    EXPECT_EQ(!out.never, c.runs) << c.left;
    EXPECT_EQ(out.never.value_or(records::Never{"", ""}).reason, c.runs ? "" : "deadline");
  }
}

TEST(FromSbatch, batch_json_of_a_bare_record) {
  const auto out = batch_job(job({1}, {}), "n1", "/");
  EXPECT_FALSE(out.task);
  EXPECT_FALSE(out.index);
  EXPECT_EQ(out.slurm_id, 42);
  EXPECT_FALSE(out.env);
  EXPECT_FALSE(out.err);
  EXPECT_FALSE(out.signal);
  EXPECT_FALSE(out.limit_s);
  EXPECT_TRUE(out.records);
  EXPECT_TRUE(out.requeue);
}

TEST(Need, asks_the_engine_only_where_its_answer_matters) {
  auto facts = job({2, 2}, {});
  EXPECT_FALSE(job_detail_need(facts).any());
  facts.record->set("gpn", "2");
  EXPECT_TRUE(job_detail_need(facts).gpus);
  EXPECT_FALSE(job_detail_need(facts).memory);
  facts.config.gpu.discovery = false;
  EXPECT_FALSE(job_detail_need(facts).any());
  facts.config.gpu.discovery = true;
  facts.record.reset();
  EXPECT_TRUE(job_detail_need(facts).gpus);
  EXPECT_TRUE(job_detail_need(facts).memory);
  facts.env.set("JOB_ID", "0");
  EXPECT_FALSE(job_detail_need(facts).any());
  auto single = job({2}, {{"gpn", "2"}});
  single.env.set("SGE_HGR_gpu", "4 6");
  EXPECT_FALSE(job_detail_need(single).any());
  EXPECT_EQ(value(made(single), "SLURM_JOB_GPUS"), "4,6");
}

TEST(Need, what_did_not_come_is_told) {
  const Error error{ErrorKind::refused, "qstat -j 7: exit 1: qstat: refused"};
  EXPECT_EQ(detail_warnings({true, true}, error),
            (std::vector<std::string>{
                "GPU discovery failed (qstat -j 7: exit 1: qstat: refused); continuing without GPU "
                "environment",
                "memory discovery failed (qstat -j 7: exit 1: qstat: refused); omitting "
                "SLURM_MEM_PER_NODE"}));
  EXPECT_TRUE(detail_warnings({}, error).empty());
}

TEST(Variables, every_export_is_unset_first_but_the_options_of_srun) {
  auto facts = job({2},
                   {{"nodes", "1"},
                    {"tpn", "2"},
                    {"ntasks", "2"},
                    {"npn", "2"},
                    {"cpt", "1"},
                    {"qos", "q"},
                    {"mem", "1"},
                    {"memper", "cpu"},
                    {"gpus", "1"},
                    {"gpt", "1"},
                    {"gpn", "1"},
                    {"dist", "plane=2"},
                    {"export", "NONE"},
                    {"hint", "h"},
                    {"openmode", "a"},
                    {"array", "0-1"}});
  facts.env.set("SGE_TASK_ID", "1");
  facts.env.set("SGE_HGR_gpu", "0");
  facts.master_ip = "10.0.0.1";
  facts.restart = 1;
  facts.config.export_master_addr = true;
  const std::vector<std::string> options = {
      "SLURM_EXPORT_ENV", "SLURM_GET_USER_ENV", "SLURM_HINT", "SLURM_OPEN_MODE"};
  const auto names = job_variable_names();
  int checked = 0;
  for (const auto& [name, text] : made(facts)) {
    const bool unset = std::find(names.begin(), names.end(), name) != names.end();
    const bool option = std::find(options.begin(), options.end(), name) != options.end();
    EXPECT_NE(unset, option) << name;
    ++checked;
  }
  EXPECT_GE(checked, 45);
}

} // namespace
} // namespace shim::fabricate
