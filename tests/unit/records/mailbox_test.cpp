#include "slurm_shim/posix/files.h"
#include "slurm_shim/records/mailbox.h"

#include <gtest/gtest.h>

#include <thread>

#include "support/temp_dir.h"
#include <sys/stat.h>

namespace shim::records {
namespace {

class MailboxTest : public testing::Test {
protected:
  void SetUp() override { ASSERT_TRUE(make_state_folders(state)); }
  void append(std::string_view text) const {
    ASSERT_TRUE(posix::append_line(state.mailbox(key), text));
  }

  test::TempDir dir;
  StatePaths state{dir.path()};
  JobKey key{4711, 3};
  MailboxReader reader{state.mailbox(key)};
};

TEST_F(MailboxTest, a_request_arrives_once) {
  ASSERT_TRUE(reader.create());
  EXPECT_TRUE(reader.poll().empty());
  const auto id = post_request(state, key, "signal", {"12", "steps"});
  ASSERT_TRUE(id) << id.error().message;
  EXPECT_EQ(posix::read_file(state.mailbox(key)).value(), "v1 " + *id + " signal 12 steps\n");
  const auto got = reader.poll();
  ASSERT_EQ(got.size(), 1U);
  ASSERT_TRUE(got[0].request);
  EXPECT_EQ(got[0].request->verb, "signal");
  EXPECT_EQ(got[0].request->args, (std::vector<std::string>{"12", "steps"}));
  EXPECT_TRUE(reader.poll().empty());
}

TEST_F(MailboxTest, an_id_seen_before_is_ignored) {
  ASSERT_TRUE(reader.create());
  append("v1 00112233445566aa requeue\n");
  EXPECT_EQ(reader.poll().size(), 1U);
  append("v1 00112233445566aa requeue\nv1 00112233445566ab suspend\n");
  const auto got = reader.poll();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].request->verb, "suspend");
}

TEST_F(MailboxTest, a_listener_hears_only_what_comes_later) {
  ASSERT_TRUE(reader.create());
  append("v1 00112233445566aa suspend\n");
  MailboxReader listener(state.mailbox(key));
  listener.skip_existing();
  EXPECT_TRUE(listener.poll().empty());
  ASSERT_TRUE(append_request(state.mailbox(key), "resume", {std::string(k_from_engine)}));
  const auto got = listener.poll();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].request->verb, "resume");
  EXPECT_EQ(got[0].request->args, std::vector<std::string>{"engine"});
}

TEST_F(MailboxTest, half_a_line_waits_for_its_end) {
  ASSERT_TRUE(reader.create());
  append("v1 00112233445566aa sig");
  EXPECT_TRUE(reader.poll().empty());
  append("nal 9 batch\n");
  const auto got = reader.poll();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].request->verb, "signal");
}

TEST_F(MailboxTest, lines_that_do_not_parse_are_reported_with_their_id) {
  ASSERT_TRUE(reader.create());
  append("v2 00112233445566aa signal 9\nhello\nv1 short suspend\nv1 00112233445566ac\n");
  const auto got = reader.poll();
  ASSERT_EQ(got.size(), 4U);
  for (const auto& received : got)
    EXPECT_FALSE(received.request);
  EXPECT_EQ(got[0].id, "00112233445566aa");
  EXPECT_EQ(got[0].problem, "unknown version \"v2\"");
  EXPECT_EQ(got[1].id, "");
  EXPECT_EQ(got[2].problem, "bad request id");
  EXPECT_EQ(got[3].id, "00112233445566ac");
}

TEST_F(MailboxTest, a_flood_without_line_feed_does_not_stop_it) {
  ASSERT_TRUE(reader.create());
  append(std::string(70000, 'x'));
  EXPECT_EQ(reader.poll().size(), 1U); // one unreadable line
  append("\nv1 00112233445566aa suspend\n");
  const auto got = reader.poll();
  ASSERT_EQ(got.size(), 2U); // the rest of the flood, then the request
  EXPECT_EQ(got[1].request->verb, "suspend");
}

TEST_F(MailboxTest, a_restart_forgets_what_the_earlier_run_was_asked) {
  append("v1 00112233445566aa requeue\n");
  ASSERT_TRUE(reader.create());
  EXPECT_TRUE(reader.poll().empty());
}

TEST_F(MailboxTest, no_mailbox_means_no_supervisor) {
  const auto id = post_request(state, key, "suspend", {});
  ASSERT_FALSE(id);
  EXPECT_EQ(id.error().kind, ErrorKind::not_found);
  EXPECT_EQ(id.error().message,
            "job 4711.3 has no supervisor (pending, ended, or not submitted by sbatch)");
}

TEST_F(MailboxTest, arguments_that_would_break_the_line_are_refused) {
  ASSERT_TRUE(reader.create());
  EXPECT_FALSE(post_request(state, key, "signal", {"9\nv1"}));
  EXPECT_FALSE(post_request(state, key, "", {}));
  EXPECT_FALSE(post_request(state, key, "signal", {std::string(600, 'x')}));
  EXPECT_TRUE(reader.poll().empty());
}

TEST_F(MailboxTest, a_mailbox_others_may_write_is_not_read) {
  ASSERT_TRUE(reader.create());
  append("v1 00112233445566aa requeue\n");
  ASSERT_EQ(::chmod(state.mailbox(key).c_str(), 0606), 0);
  EXPECT_TRUE(reader.poll().empty());
}

TEST_F(MailboxTest, the_answer_comes_from_the_job_record) {
  ASSERT_TRUE(reader.create());
  const auto id = post_request(state, key, "suspend", {});
  ASSERT_TRUE(id);
  BatchJob job;
  job.tok = "9f3c21d07be84a55";
  job.job = key.job;
  job.task = key.task;
  job.dir = state.root();
  std::thread supervisor([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    ASSERT_TRUE(JobRecordWriter(job).request({1796002951204, *id, "suspend", 1, "no"}));
  });
  posix::SystemClock clock;
  const auto answer = await_answer(state, key, *id, clock);
  supervisor.join();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->rc, 1);
  EXPECT_EQ(answer->text, "no");
  const auto none =
      await_answer(state, key, "0000000000000000", clock, std::chrono::milliseconds(10));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::unavailable);
}

} // namespace
} // namespace shim::records
