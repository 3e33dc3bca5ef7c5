// How many devices a step takes, which ones, and what its ranks see of them.
#include "slurm_shim/plan/plan.h"

#include <gtest/gtest.h>

namespace shim::plan {
namespace {

using Kind = slurm::GpuBind::Kind;

DeviceCount typed(int count, const char* option) {
  return {count, false, "--" + std::string(option) + "=" + std::to_string(count)};
}

DeviceCount of_job(int count) {
  return {count, true, ""};
}

struct Job {
  std::vector<Devices> granted, held;
  std::vector<int> tasks;
};

// Devices per host, or the error.
Result<std::vector<Devices>>
chosen(const DeviceRequest& request, const Job& job, bool share = false) {
  std::vector<DeviceHost> hosts;
  static const std::vector<std::string> names = {"n1", "n2", "n3"};
  static const Devices none;
  bool any = false;
  for (std::size_t i = 0; i < job.granted.size(); ++i) {
    hosts.push_back({names[i],
                     &job.granted[i],
                     i < job.held.size() ? &job.held[i] : &none,
                     i < job.tasks.size() ? job.tasks[i] : 1});
    any = any || !job.granted[i].empty();
  }
  return choose_devices(request, hosts, any, share);
}

using All = std::vector<Devices>;
const Job k_two{{{"0", "1"}, {"2", "3", "4"}}, {}, {2, 1}};

TEST(ChooseDevices, takes_what_was_asked_for) {
  DeviceRequest all, each, per_task, total, none;
  each.per_node = typed(1, "gpus-per-node");
  per_task.per_task = typed(1, "gpus-per-task");
  per_task.per_node = of_job(2);
  total.total = typed(3, "gpus");
  none.per_node = typed(0, "gres");
  EXPECT_EQ(chosen(all, k_two).value(), (All{{"0", "1"}, {"2", "3", "4"}}));
  EXPECT_EQ(chosen(each, k_two).value(), (All{{"0"}, {"2"}}));
  EXPECT_EQ(chosen(per_task, k_two).value(), (All{{"0", "1"}, {"2"}}));
  EXPECT_EQ(chosen(total, k_two).value(), (All{{"0", "1"}, {"2"}}));
  EXPECT_EQ(chosen(none, k_two).value(), (All{{}, {}}));
  EXPECT_EQ(chosen(all, {{{"0"}, {}}, {}, {}}).value(), (All{{"0"}, {}})); // `()` on one host
}

TEST(ChooseDevices, a_total_goes_round_the_hosts_as_far_as_they_have_room) {
  DeviceRequest request;
  const Job job{{{"0"}, {"0", "1", "2"}, {"0", "1"}}, {}, {}};
  request.total = typed(5, "gpus");
  EXPECT_EQ(chosen(request, job).value(), (All{{"0"}, {"0", "1"}, {"0", "1"}}));
  request.total = typed(2, "gpus");
  EXPECT_EQ(chosen(request, job).value(), (All{{"0"}, {"0"}, {}}));
}

TEST(ChooseDevices, more_than_was_granted_is_an_error) {
  const auto message = [](const DeviceRequest& request, const Job& job) {
    const auto out = chosen(request, job);
    return out ? std::string("(chosen)") : out.error().message;
  };
  DeviceRequest request;
  request.per_task = typed(2, "gpus-per-task");
  EXPECT_EQ(message(request, k_two), "--gpus-per-task=2 exceeds the 2 GPUs granted on n1");
  request = {};
  request.per_node = {3, false, "--gres=gpu:3"};
  EXPECT_EQ(message(request, k_two), "--gres=gpu:3 exceeds the 2 GPUs granted on n1");
  request = {};
  request.total = typed(6, "gpus");
  EXPECT_EQ(message(request, k_two),
            "--gpus=6 exceeds the 5 GPUs granted on the hosts of the step");
  EXPECT_EQ(message(request, {{{"0"}}, {}, {}}), "--gpus=6 exceeds the 1 GPUs granted on n1");
  request.per_node = of_job(2); // goes before the total, but hides no excess
  EXPECT_EQ(message(request, k_two),
            "--gpus=6 exceeds the 5 GPUs granted on the hosts of the step");
  request = {};
  request.per_task = typed(2, "gpus-per-task");
  request.per_node = typed(2, "gpus-per-node");
  EXPECT_EQ(message(request, {{{"0", "1", "2", "3"}}, {}, {2}}),
            "--gpus-per-task=2 and --gpus-per-node=2 do not go together: 2 tasks run on n1");
  request = {};
  request.per_task = typed(2, "gpus-per-task");
  request.per_task_of_job = 1;
  EXPECT_EQ(message(request, k_two),
            "Step requested gres_per_task=gpu:2 is more than the job's gres_per_task=gpu:1\n"
            "Invalid generic resource (gres) specification");
}

TEST(ChooseDevices, a_job_without_devices_has_none_to_ask_for) {
  const Job job{{{}, {}}, {}, {}};
  for (const int which : {0, 1, 2}) {
    DeviceRequest request;
    (which == 0   ? request.per_task
     : which == 1 ? request.per_node
                  : request.total) = typed(1, "gpus");
    const auto out = chosen(request, job);
    ASSERT_FALSE(out);
    EXPECT_EQ(out.error().message,
              "Step requested GRES but job doesn't have GRES\n"
              "Invalid generic resource (gres) specification");
    EXPECT_EQ(out.error().kind, ErrorKind::refused);
  }
  DeviceRequest implied; // a complex without ids: nobody can tell which devices they are
  implied.per_task = of_job(1);
  implied.per_node = of_job(4);
  implied.total = of_job(4);
  EXPECT_EQ(chosen(implied, job).value(), (All{{}, {}}));
}

TEST(ChooseDevices, the_jobs_own_share_is_never_an_excess) {
  DeviceRequest request;
  request.per_node = of_job(4);
  EXPECT_EQ(chosen(request, k_two).value(), (All{{"0", "1"}, {"2", "3", "4"}}));
  request = {};
  request.total = of_job(8);
  EXPECT_EQ(chosen(request, {{{"0", "1"}}, {}, {}}).value(), (All{{"0", "1"}}));
}

TEST(ChooseDevices, running_steps_keep_theirs) {
  Job job = k_two;
  job.held = {{"0"}, {"2", "3", "4"}};
  DeviceRequest request;
  request.total = typed(1, "gpus");
  EXPECT_EQ(chosen(request, job).value(), (All{{"1"}, {}}));
  for (const auto& busy : {typed(2, "gpus"), typed(5, "gpus")}) {
    request.total = busy;
    const auto out = chosen(request, job);
    ASSERT_FALSE(out);
    EXPECT_EQ(out.error().message, "Requested nodes are busy");
  }
  EXPECT_FALSE(chosen({}, job)); // all devices are not free
  // Who shares takes free ones first.
  request.total = typed(2, "gpus");
  EXPECT_EQ(chosen(request, job, true).value(), (All{{"1"}, {"2"}}));
  EXPECT_EQ(chosen({}, job, true).value(), (All{{"1", "0"}, {"2", "3", "4"}}));
  request = {};
  request.per_node = typed(0, "gres");
  EXPECT_EQ(chosen(request, job).value(), (All{{}, {}}));
}

std::vector<Devices>
bound(const slurm::GpuBind& bind, const Devices& devices, int tasks, int each = 0) {
  DeviceRequest request;
  request.bind = bind;
  if (each > 0) request.per_task = typed(each, "gpus-per-task");
  return bind_devices(request, "n1", devices, tasks).value().per_rank;
}

TEST(BindDevices, words_of_gpu_bind) {
  const Devices four = {"4", "5", "6", "7"};
  EXPECT_EQ(bound({Kind::none}, four, 2), (All{four, four}));
  EXPECT_EQ(bound({Kind::none}, four, 2, 1), (All{four, four})); // also beside a count per task
  EXPECT_EQ(bound({Kind::closest}, four, 1), (All{four}));
  EXPECT_EQ(bound({Kind::per_task}, four, 2), (All{{"4", "5"}, {"6", "7"}}));
  EXPECT_EQ(bound({Kind::per_task, 1}, four, 2, 1), (All{{"4"}, {"5"}}));
  EXPECT_EQ(bound({Kind::single, 1}, {"0", "1"}, 3), (All{{"0"}, {"1"}, {"0"}}));
  EXPECT_EQ(bound({Kind::single, 2}, {"0", "1"}, 4), (All{{"0"}, {"0"}, {"1"}, {"1"}}));
  EXPECT_EQ(bound({Kind::map, 0, {3, 0}}, four, 3), (All{{"7"}, {"4"}, {"7"}}));
  EXPECT_EQ(bound({Kind::mask, 0, {0x3, 0xc}}, four, 2), (All{{"4", "5"}, {"6", "7"}}));
  for (const auto kind : {Kind::single, Kind::map, Kind::mask, Kind::per_task})
    EXPECT_EQ(bound({kind, 1, {1}}, {}, 2), (All{{}, {}})); // a host without devices
}

TEST(BindDevices, positions_beyond_the_devices_are_an_error) {
  DeviceRequest request;
  request.bind = slurm::GpuBind{Kind::map, 0, {0, 2}};
  const auto out = bind_devices(request, "n1", {"0", "1"}, 2);
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().message,
            "--gpu-bind=map_gpu: task 1 of n1 is to get GPU 2, but the step has 2 GPUs there "
            "(counted from 0)");
  request.bind = slurm::GpuBind{Kind::mask, 0, {std::uint64_t{1} << 63U}};
  EXPECT_FALSE(bind_devices(request, "n1", {"0", "1"}, 1));
}

TEST(Place, ranks_see_their_slices_and_hosts_have_the_steps_devices) {
  Allocation allocation;
  allocation.nodes = {{"n1", "", 4, {"GPU-a", "GPU-b"}}, {"n2", "", 4, {"7"}}};
  allocation.tasks_per_node = {2, 1};
  StepRequest request;
  request.devices.per_task = typed(1, "gpus-per-task");
  std::vector<std::string> warnings;
  const auto placed = place(allocation, request, warnings).value();
  ASSERT_EQ(placed.ranks.size(), 3U);
  EXPECT_EQ(placed.ranks[1].gpus, Devices{"GPU-b"});
  EXPECT_EQ(placed.ranks[2].gpus, Devices{"7"});
  EXPECT_EQ(placed.nodes[0].gpus, (Devices{"GPU-a", "GPU-b"}));
  // In the way of others until it ends.
  allocation.nodes[1].gpus_held = {"7"};
  const auto beside = place_beside(allocation, request, warnings);
  ASSERT_TRUE(beside) << beside.error().message;
  EXPECT_FALSE(*beside);
}

} // namespace
} // namespace shim::plan
