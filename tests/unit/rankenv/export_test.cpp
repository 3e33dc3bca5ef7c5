#include "slurm_shim/rankenv/rankenv.h"

#include <gtest/gtest.h>

namespace shim::rankenv {
namespace {

const EnvList& own() {
  static const EnvList env({"PATH=/bin",
                            "HOME=/h",
                            "USER=u",
                            "TMPDIR=/t",
                            "SLURM_JOB_ID=1",
                            "FOO=foo",
                            "BAR=bar",
                            "SLURM_SHIM_REQ=v1;x",
                            "SLURM_SHIM_TOKEN=secret"});
  return env;
}

using Entries = std::vector<std::string>;
const Entries k_all = {
    "PATH=/bin", "HOME=/h", "USER=u", "TMPDIR=/t", "SLURM_JOB_ID=1", "FOO=foo", "BAR=bar"};
const Entries k_none = {"TMPDIR=/t", "SLURM_JOB_ID=1"};

Entries plus(Entries base, const Entries& more) {
  base.insert(base.end(), more.begin(), more.end());
  return base;
}

TEST(FilterExport, table) {
  struct Row {
    const char* spec;
    Entries want;
  };
  const Row rows[] = {
      {"", k_none},
      {"ALL", k_all},
      {"NONE", k_none},
      {"nil", k_none},
      {"ALL,X=y", plus(k_all, {"X=y"})},
      {"FOO", plus(k_none, {"FOO=foo"})},
      {"FOO,BAR=x", plus(k_none, {"FOO=foo", "BAR=x"})},
      {"BAR=x,UNSET", plus(k_none, {"BAR=x"})},
      {"X='a,b',Y=\"c d\"", plus(k_none, {"X=a,b", "Y=c d"})},
      {"X=a=b,,", plus(k_none, {"X=a=b"})},
      {"X=", plus(k_none, {"X="})},
      {"SLURM_SHIM_TOKEN,SLURM_SHIM_REQ=a", k_none},
  };
  for (const auto& row : rows)
    EXPECT_EQ(filter_export(own(), slurm::parse_export(row.spec).value()).entries(), row.want)
        << row.spec;
}

TEST(FilterExport, without_the_option_everything_passes) {
  EXPECT_EQ(filter_export(own(), slurm::ExportSpec{}).entries(), k_all);
}

TEST(FilterExport, beside_all_the_environment_wins_over_a_setting) {
  const auto env = filter_export(own(), slurm::parse_export("ALL,FOO=9").value());
  EXPECT_EQ(env.entries(), k_all);
}

TEST(FilterExport, a_setting_in_a_list_wins_over_the_environment) {
  const auto env = filter_export(own(), slurm::parse_export("FOO=9").value());
  EXPECT_EQ(env.get("FOO"), "9");
}

TEST(DeviceMasks, all_five_are_removed_and_container_variables_stay) {
  EnvList env({"CUDA_VISIBLE_DEVICES=",
               "ROCR_VISIBLE_DEVICES=0",
               "HIP_VISIBLE_DEVICES=0",
               "GPU_DEVICE_ORDINAL=0",
               "ZE_AFFINITY_MASK=0",
               "NVIDIA_VISIBLE_DEVICES=all"});
  remove_device_masks(env);
  EXPECT_EQ(env.entries(), Entries{"NVIDIA_VISIBLE_DEVICES=all"});
}

} // namespace
} // namespace shim::rankenv
