// The device options of srun and their variables.
#include "request_devices.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/commands/srun.h"

#include <gtest/gtest.h>

namespace shim::commands::srun {
namespace {

using Words = std::vector<std::string>;
using Kind = slurm::GpuBind::Kind;

struct Made {
  Result<Request> request;
  Words warnings;
  [[nodiscard]] const plan::DeviceRequest& devices() const { return request->placement.devices; }
};

Made make(Words words, const Words& env = {}, const config::Config& config = {}) {
  words.emplace_back("true");
  const auto parsed = cli::parse(srun_options(), words, {.command = "srun"});
  if (!parsed) return {tl::unexpected<Error>(parsed.error()), {}};
  Words warnings;
  auto request = make_request(*parsed, srun_options(), EnvList(env), config, warnings);
  return {std::move(request), std::move(warnings)};
}

std::string error_of(const Words& words, const Words& env = {}) {
  const auto made = make(words, env);
  return made.request ? "(fine)" : made.request.error().message;
}

// "3", "3 of the job", or "-".
std::string text(const std::optional<plan::DeviceCount>& count) {
  if (!count) return "-";
  return std::to_string(count->count) + (count->implied ? " of the job" : "");
}

std::string all(const Made& made) {
  const auto& devices = made.devices();
  return text(devices.per_task) + ", " + text(devices.per_node) + ", " + text(devices.total);
}

TEST(RequestDevices, counts_per_task_per_node_and_in_all) {
  const struct {
    Words words, env;
    const char* want;
  } cases[] = {
      {{}, {}, "-, -, -"},
      {{"--gpus-per-task=a100:2"}, {}, "2, -, -"},
      {{"--gpus-per-node=2"}, {}, "-, 2, -"},
      {{"--gres=gpu:a100:1,gpu:2"}, {}, "-, 3, -"},
      {{"--gres=gpu"}, {}, "-, 1, -"},
      {{"--gres=none"}, {}, "-, 0, -"},
      {{"--gres=gpu:0"}, {"SLURM_GPUS_PER_NODE=4"}, "-, 0, -"},
      {{"-G3"}, {}, "-, -, 3"},
      {{},
       {"SLURM_GPUS=2", "SLURM_GPUS_PER_TASK=1", "SLURM_GPUS_PER_NODE=4"},
       "1 of the job, 4 of the job, 2 of the job"},
      {{"--gpus=2"}, {"SLURM_GPUS_PER_NODE=4"}, "-, 4 of the job, 2"},
      {{"--gres=gpu:1"}, {"SLURM_GPUS_PER_NODE=4"}, "-, 1, -"},
      {{"--gpus-per-node=1"}, {"SLURM_GRES=gpu:2"}, "-, 1, -"},
      {{"--gpus-per-node=1"}, {"SLURM_GPUS_PER_TASK=2"}, "-, 1, -"},
      {{"--gpus=1"}, {"SLURM_GPUS_PER_TASK=2"}, "-, -, 1"},
      {{"--gpus-per-task=1"}, {"SLURM_GPUS_PER_TASK=2"}, "1, -, -"},
      {{"--gpu-bind=per_task:2"}, {}, "2, -, -"},
      {{"--gpu-bind=per_task:2", "--gpus-per-task=1"}, {}, "1, -, -"},
  };
  for (const auto& c : cases) {
    const auto made = make(c.words, c.env);
    ASSERT_TRUE(made.request) << c.want << made.request.error().message;
    EXPECT_EQ(all(made), c.want) << join(c.words, " ");
    EXPECT_TRUE(made.warnings.empty()) << join(made.warnings, "\n");
  }
  EXPECT_EQ(make({}, {"SLURM_GPUS_PER_TASK=2"}).devices().per_task_of_job, 2);
}

TEST(RequestDevices, what_makes_no_sense_is_refused) {
  const std::string bad = "Invalid generic resource (gres) specification";
  for (const auto* word : {"--gres=foo:1",
                           "--gres=gpu:a:b:1",
                           "--gpus=-1,",
                           "--gpus-per-node=a:b:1",
                           "--gpus=99999999999",
                           "--gres=,"})
    EXPECT_EQ(error_of({word}), bad) << word;
  EXPECT_EQ(error_of({"--gres=gpu:1", "--gpus-per-node=2"}), bad);
  EXPECT_EQ(error_of({"--gres=none"}, {"SLURM_GPUS_PER_NODE=4", "SLURM_JOB_ID=7"}),
            "Unable to create step for job 7: Invalid Trackable RESource (TRES) specification");
  EXPECT_EQ(error_of({"--gpu-bind=bogus"}), "Invalid --gpu-bind argument: gpu:bogus");
  EXPECT_EQ(error_of({}, {"SLURM_GPU_BIND=map_gpu:x"}),
            "Invalid --gpu-bind argument: gpu:map_gpu:x");
  EXPECT_EQ(error_of({"--ntasks-per-gpu=0"}), "Invalid numeric value \"0\" for --ntasks-per-gpu.");
}

TEST(RequestDevices, other_resources_are_not_divided_among_steps) {
  config::Config config;
  config.gres_map["shard"] = "shard";
  const auto made = make({"--gres=shard:2,gpu:1"}, {}, config);
  ASSERT_TRUE(made.request);
  EXPECT_EQ(made.warnings, Words{"--gres=shard:2,gpu:1: shard is not divided among steps"});
  EXPECT_EQ(all(made), "-, 1, -");
  EXPECT_EQ(all(make({"--gres=shard:2"}, {}, config)), "-, -, -");
}

TEST(RequestDevices, binding) {
  EXPECT_FALSE(make({}).devices().bind);
  EXPECT_EQ(make({"--gpu-bind=single:2"}).devices().bind, (slurm::GpuBind{Kind::single, 2}));
  EXPECT_EQ(make({}, {"SLURM_GPU_BIND=none"}).devices().bind, slurm::GpuBind{Kind::none});
  EXPECT_EQ(make({"--gpu-bind=closest"}).warnings.size(), 1U);
  config::Config config;
  config.gpu.bind_per_task = true;
  EXPECT_TRUE(make({}, {}, config).devices().divide);
}

TEST(RequestDevices, tasks_per_gpu_share_them_in_turn) {
  const auto of_job = make({}, {"SLURM_NTASKS_PER_GPU=2", "SLURM_GPUS=4"});
  EXPECT_EQ(of_job.devices().bind, (slurm::GpuBind{Kind::single, 2}));
  EXPECT_EQ(of_job.request->placement.ntasks, 0);
  EXPECT_EQ(make({"--ntasks-per-gpu=2", "--gpus=3"}).request->placement.ntasks, 6);
  EXPECT_EQ(make({"--ntasks-per-gpu=2", "--gpus=3", "-n4"}).request->placement.ntasks, 4);
  EXPECT_EQ(make({"--ntasks-per-gpu=2", "--gpus-per-node=3"}).request->placement.ntasks_per_node,
            6);
  EXPECT_EQ(all(make({"--ntasks-per-gpu=2", "-n5"})), "-, -, 3");
  EXPECT_EQ(make({"--ntasks-per-gpu=2", "--gpu-bind=none"}).devices().bind,
            slurm::GpuBind{Kind::none});
}

TEST(RequestDevices, outside_of_a_job_there_are_none_to_give_out) {
  auto made = make({"--gpus=2"});
  Words notices;
  drop_devices(*made.request, "devices are given out to jobs only", notices);
  EXPECT_EQ(all(made), "-, -, -");
  EXPECT_EQ(notices, Words{"warning: --gpus=2 has no effect: devices are given out to jobs only"});
}

} // namespace
} // namespace shim::commands::srun
