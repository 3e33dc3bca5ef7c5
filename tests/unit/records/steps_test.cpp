#include "slurm_shim/posix/files.h"
#include "slurm_shim/records/steps.h"

#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include <fcntl.h>
#include <sys/file.h>

namespace shim::records {
namespace {

RunningStep step(int number, std::vector<std::string> hosts) {
  return {number, 123, 1796002950100, "a.out", std::move(hosts), 4, {3, 1}};
}

class StepsTest : public testing::Test {
protected:
  test::TempDir dir;
  JobFolder folder{dir / "slurm_shim"};
};

TEST_F(StepsTest, a_registered_step_is_seen_until_it_ends) {
  {
    const auto registration = StepRegistration::create(folder, step(0, {"n1", "n2"}));
    ASSERT_TRUE(registration) << registration.error().message;
    EXPECT_EQ(posix::read_file(folder.step_file(0)).value(),
              R"({"v":1,"step":0,"pid":123,"start":1796002950.1,"name":"a.out",)"
              R"("hosts":["n1","n2"],"ntasks":4,"cpus":[3,1]})"
              "\n");
    const auto steps = list_running_steps(folder);
    ASSERT_EQ(steps.size(), 1U);
    EXPECT_EQ(steps[0].hosts, (std::vector<std::string>{"n1", "n2"}));
    EXPECT_EQ(steps[0].cpus, (std::vector<int>{3, 1}));
    EXPECT_EQ(steps[0].parent, -1);
    EXPECT_EQ(steps[0].start_ms, 1796002950100);
  }
  EXPECT_TRUE(list_running_steps(folder).empty());
  EXPECT_FALSE(posix::exists(folder.step_file(0)));
  EXPECT_FALSE(posix::exists(folder.step_requests(0)));
}

TEST_F(StepsTest, a_file_without_its_srun_is_removed) {
  ASSERT_TRUE(posix::make_directories(folder.steps_dir()));
  ASSERT_TRUE(posix::write_file_atomic(folder.step_file(4), R"({"v":1,"step":4})"));
  ASSERT_TRUE(posix::write_file_atomic(folder.step_requests(4), ""));
  EXPECT_TRUE(list_running_steps(folder).empty());
  EXPECT_FALSE(posix::exists(folder.step_file(4)));
  EXPECT_FALSE(posix::exists(folder.step_requests(4)));
}

TEST_F(StepsTest, steps_come_in_order_and_by_host) {
  const auto b = StepRegistration::create(folder, step(10, {"n2", "n3"}));
  const auto a = StepRegistration::create(folder, step(2, {"n1"}));
  ASSERT_TRUE(a && b);
  const auto steps = list_running_steps(folder);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].step, 2);
  const auto on_n2 = find_step_on_host(folder, "n2", 2);
  ASSERT_TRUE(on_n2);
  EXPECT_EQ(on_n2->step, 10);
  EXPECT_FALSE(find_step_on_host(folder, "n2", 10)); // itself does not count
  EXPECT_FALSE(find_step_on_host(folder, "n4", 2));
}

TEST(SlotsInUse, are_those_of_all_steps_but_the_ones_around) {
  const std::vector<RunningStep> steps = {
      {0, 1, 0, "outer", {"n1", "n2"}, 4, {3, 1}},
      {1, 2, 0, "inner", {"n1"}, 1, {1}, 0},
      {2, 3, 0, "other", {"n2"}, 2, {2}},
      {3, 4, 0, "overlapping", {"n1"}, 2, {0}},
      {4, 5, 0, "of a version without slots", {"n1"}, 2, {}},
  };
  using Slots = std::map<std::string, int>;
  EXPECT_EQ(slots_in_use(steps, -1), (Slots{{"n1", 4}, {"n2", 3}}));
  EXPECT_EQ(slots_in_use(steps, 0), (Slots{{"n1", 1}, {"n2", 2}}));
  EXPECT_EQ(slots_in_use(steps, 1), (Slots{{"n1", 0}, {"n2", 2}})); // and those around it
  EXPECT_EQ(slots_in_use(steps, 7), (Slots{{"n1", 4}, {"n2", 3}})); // a step that is gone
}

TEST_F(StepsTest, devices_are_registered_with_their_hosts) {
  auto holder = step(3, {"n1", "n2"});
  holder.gpus = {{"0", "GPU-a"}, {}};
  const auto registration = StepRegistration::create(folder, holder);
  ASSERT_TRUE(registration) << registration.error().message;
  const auto steps = list_running_steps(folder);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].gpus, holder.gpus);
  using Held = std::map<std::string, std::vector<std::string>>;
  EXPECT_EQ(devices_in_use(steps, -1), (Held{{"n1", {"0", "GPU-a"}}, {"n2", {}}}));
  EXPECT_EQ(devices_in_use(steps, 3), Held()); // the caller's own step
}

TEST_F(StepsTest, one_claims_at_a_time) {
  auto lock = take_claim_lock(folder);
  ASSERT_TRUE(lock) << lock.error().message;
  const auto again = posix::open_file(folder.root() + "/claim", O_RDWR);
  ASSERT_TRUE(again);
  EXPECT_NE(::flock(again->get(), LOCK_EX | LOCK_NB), 0);
  lock->reset();
  EXPECT_EQ(::flock(again->get(), LOCK_EX | LOCK_NB), 0);
  EXPECT_TRUE(list_running_steps(folder).empty()); // the lock is no step
}

TEST_F(StepsTest, requests_reach_the_step_in_order) {
  auto registration = StepRegistration::create(folder, step(1, {"n1"}));
  ASSERT_TRUE(registration);
  EXPECT_TRUE(registration->poll().empty());
  EXPECT_FALSE(posix::exists(folder.step_requests(1))); // the first request makes it
  ASSERT_TRUE(post_step_request(folder, 1, {StepRequest::Kind::signal, 12}));
  ASSERT_TRUE(posix::append_line(folder.step_requests(1), "signal 65\nsignal\nhello\nsig"));
  auto got = registration->poll();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].signal, 12);
  ASSERT_TRUE(posix::append_line(folder.step_requests(1), "nal 9\n"));
  ASSERT_TRUE(post_step_request(folder, 1, {StepRequest::Kind::end, 0}));
  got = registration->poll();
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0].signal, 9);
  EXPECT_EQ(got[1].kind, StepRequest::Kind::end);
}

TEST_F(StepsTest, a_request_to_a_step_that_is_gone_is_refused) {
  const auto sent = post_step_request(folder, 7, {StepRequest::Kind::end, 0});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().kind, ErrorKind::not_found);
  EXPECT_EQ(sent.error().message, "step 7 is not running");
}

TEST_F(StepsTest, the_lock_tells_whether_the_supervisor_lives) {
  ASSERT_TRUE(posix::make_directories(folder.root()));
  EXPECT_FALSE(supervisor_is_gone(folder)); // no batch.json: there never was one
  ASSERT_TRUE(posix::write_file_atomic(folder.batch_json(), "{}"));
  EXPECT_FALSE(supervisor_is_gone(folder)); // no lock file yet
  {
    const auto lock = take_supervisor_lock(folder);
    ASSERT_TRUE(lock) << lock.error().message;
    EXPECT_FALSE(supervisor_is_gone(folder));
    const auto second = take_supervisor_lock(folder);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, ErrorKind::refused);
  }
  EXPECT_TRUE(supervisor_is_gone(folder));
}

TEST_F(StepsTest, preflight_answer_is_kept) {
  ASSERT_TRUE(posix::make_directories(folder.root()));
  EXPECT_EQ(read_preflight(folder), std::nullopt);
  ASSERT_TRUE(write_preflight(folder, "unknown qconf: no answer\nwithin 5 s"));
  EXPECT_EQ(read_preflight(folder), "unknown qconf: no answer within 5 s");
  ASSERT_TRUE(write_preflight(folder, "TRUE"));
  EXPECT_EQ(read_preflight(folder), "TRUE");
  ASSERT_TRUE(posix::write_file_atomic(folder.preflight(), "nonsense\n"));
  EXPECT_EQ(read_preflight(folder), std::nullopt);
}

} // namespace
} // namespace shim::records
