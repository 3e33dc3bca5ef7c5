#include "script.h"
#include "script_env.h"

#include <gtest/gtest.h>

namespace shim::batchexec {
namespace {

ScriptEnvInput input(std::vector<std::string> own, std::optional<std::vector<std::string>> user) {
  return {EnvList(std::move(own)), std::move(user), "/shim/bin", "/t/slurm_shim", "/home/u/p"};
}

std::string value(const std::vector<std::string>& env, std::string_view name) {
  return std::string(EnvList(env).get(name).value_or("(unset)"));
}

TEST(ScriptEnv, later_layers_win) {
  const auto env =
      compose_script_env(input({"HOME=/engine", "JOB_ID=7", "SLURM_JOB_ID=7", "ONLY=1"},
                               {{"HOME=/user", "JOB_ID=1", "SLURM_JOB_ID=1"}}));
  EXPECT_EQ(value(env, "HOME"), "/user");
  EXPECT_EQ(value(env, "JOB_ID"), "7");
  EXPECT_EQ(value(env, "SLURM_JOB_ID"), "7");
  EXPECT_EQ(value(env, "ONLY"), "1");
  EXPECT_EQ(value(env, "PWD"), "/home/u/p");
  EXPECT_EQ(value(env, "SLURM_SHIM_DIR"), "/t/slurm_shim");
}

TEST(ScriptEnv, path_gets_the_commands_in_front_once) {
  const struct {
    std::vector<std::string> own;
    std::optional<std::vector<std::string>> user;
    std::string expected;
  } cases[] = {
      {{"PATH=/engine"}, {{"PATH=/user"}}, "/shim/bin:/user"},
      {{"PATH=/engine"}, {{}}, "/shim/bin:/engine"},
      {{"PATH=/engine"}, std::nullopt, "/shim/bin:/engine"},
      {{"PATH=/shim/bin:/engine"}, {{}}, "/shim/bin:/engine"}, // by the hook's file
      {{"PATH=/shim/binary"}, {{}}, "/shim/bin:/shim/binary"},
      {{"PATH=/engine"}, {{"PATH="}}, "/shim/bin"},
      {{}, {{}}, "/shim/bin:/usr/bin:/bin"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(value(compose_script_env(input(c.own, c.user)), "PATH"), c.expected);
}

TEST(ScriptEnv, the_daemons_loader_paths_never_come_the_users_do) {
  const auto env = compose_script_env(
      input({"LD_LIBRARY_PATH=/engine", "LD_PRELOAD=/engine.so"}, {{"LD_LIBRARY_PATH=/mine"}}));
  EXPECT_EQ(value(env, "LD_LIBRARY_PATH"), "/mine");
  EXPECT_EQ(value(env, "LD_PRELOAD"), "(unset)");
}

TEST(ScriptEnv, the_starters_own_variables_stay_out_the_users_come) {
  const auto env = compose_script_env(input({"_=/starter",
                                             "SHLVL=1",
                                             "OLDPWD=/x",
                                             "SGE_STARTER_SHELL_PATH=/bin/sh",
                                             "SLURM_SHIM_REQ=v1",
                                             "SLURM_SHIM_TOKEN=t",
                                             "SLURM_SHIM_CONFIG=/c"},
                                            {{"SHLVL=4", "OLDPWD=/mine", "PWD=/elsewhere"}}));
  EXPECT_EQ(value(env, "_"), "(unset)");
  EXPECT_EQ(value(env, "SHLVL"), "4");
  EXPECT_EQ(value(env, "OLDPWD"), "/mine");
  EXPECT_EQ(value(env, "PWD"), "/home/u/p");
  EXPECT_EQ(value(env, "SGE_STARTER_SHELL_PATH"), "(unset)");
  EXPECT_EQ(value(env, "SLURM_SHIM_REQ"), "(unset)");
  EXPECT_EQ(value(env, "SLURM_SHIM_TOKEN"), "(unset)");
  EXPECT_EQ(value(env, "SLURM_SHIM_CONFIG"), "/c");
}

TEST(ScriptEnv, the_jobs_mask_is_the_only_one) {
  const std::vector<std::string> user = {"CUDA_VISIBLE_DEVICES=7",
                                         "ROCR_VISIBLE_DEVICES=7",
                                         "GPU_DEVICE_ORDINAL=7",
                                         "SLURM_SHIM_GPU_VARIABLE=X"};
  const auto granted = compose_script_env(
      input({"SLURM_SHIM_GPU_VARIABLE=ROCR_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES=0,1"}, user));
  EXPECT_EQ(value(granted, "ROCR_VISIBLE_DEVICES"), "0,1");
  EXPECT_EQ(value(granted, "CUDA_VISIBLE_DEVICES"), "(unset)");
  EXPECT_EQ(value(granted, "GPU_DEVICE_ORDINAL"), "(unset)");
  EXPECT_EQ(value(granted, "SLURM_SHIM_GPU_VARIABLE"), "(unset)");
  const auto other = compose_script_env(input({}, user)); // no devices, or the cgroup chooses
  EXPECT_EQ(value(other, "CUDA_VISIBLE_DEVICES"), "7");
  EXPECT_EQ(value(other, "SLURM_SHIM_GPU_VARIABLE"), "(unset)");
}

TEST(ScriptEnd, the_engine_is_never_told_99_or_100_by_a_script) {
  const struct {
    int code;
    bool requeue;
    int told;
  } cases[] = {{0, false, 0},
               {1, false, 1},
               {98, false, 98},
               {99, false, 1},
               {100, false, 1},
               {143, false, 143},
               {0, true, 99},
               {143, true, 99}};
  for (const auto& c : cases)
    EXPECT_EQ(engine_exit_code({c.code, 0}, c.requeue), c.told) << c.code;
}

TEST(ScriptEnd, wait_status) {
  EXPECT_EQ(script_end(3 << 8).code, 3);
  EXPECT_EQ(script_end(3 << 8).sig, 0);
  EXPECT_EQ(script_end(9).code, 137);
  EXPECT_EQ(script_end(9).sig, 9);
  EXPECT_EQ(script_end(0x80 | 11).code, 139); // with a core
}

} // namespace
} // namespace shim::batchexec
