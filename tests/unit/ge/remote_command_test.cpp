#include "slurm_shim/ge/remote_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_engine.h"

namespace shim::ge {

namespace {

TEST(RemoteCommand, asks_for_one_host_and_nothing_of_request_files) {
  EXPECT_THAT(remote_command_args({"n2", {"/bin/x", "a b"}, ""}),
              testing::ElementsAre("-clear",
                                   "-now",
                                   "y",
                                   "-nostdin",
                                   "-noshell",
                                   "-N",
                                   "slurm-shim",
                                   "-l",
                                   "h=n2",
                                   "/bin/x",
                                   "a b"));
}

// stderr of qrsh 8.1.9 and 9.1.5.
TEST(RemoteCommand, tells_a_refusal_from_a_command_that_failed) {
  for (const auto* text :
       {"Your \"qrsh\" request could not be scheduled, try again later.\n",
        "job rejected: your user id 0 is lower than minimum user id 100 of cluster configuration\n",
        "can't resolve hostname \"n9\"\n",
        "unable to send message to qmaster using port 6444 on host \"m\": got send error\n"})
    EXPECT_EQ(not_started(1, text) + "\n", text);
  EXPECT_EQ(not_started(1, "qrsh_starter: executing child process /x failed: No such file\n"), "");
  EXPECT_EQ(not_started(0, "Your \"qrsh\" request could not be scheduled\n"), "");
}

TEST(RemoteCommand, runs_as_another_user_through_runuser) {
  EnvList env;
  test::FakeEngine engine(env);
  ASSERT_TRUE(posix::write_file_atomic(env.get_or("SLURM_SHIM_GE_BIN", "") + "/qrsh", "", 0755));
  engine.answer("runuser -u sgeadmin -- ", {0, "fine\n", ""});
  const Tools tools(engine, env, std::chrono::seconds(5));
  const auto answer = run_on_host(tools, {"n2", {"/bin/x"}, "sgeadmin"}, std::chrono::seconds(5));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->out, "fine\n");
  EXPECT_THAT(engine.calls.back(), testing::HasSubstr("/qrsh -clear"));
}

TEST(RemoteCommand, root_submits_as_the_admin_user_where_it_may_not_itself) {
  EXPECT_EQ(submitting_user(0, "100", "admin_user   sgeadmin\ndefault_domain none\n").value(),
            "sgeadmin");
  EXPECT_EQ(submitting_user(0, "0", "admin_user sgeadmin\n").value(), "");
  EXPECT_EQ(submitting_user(1500, "100", "").value(), "");
  EXPECT_EQ(submitting_user(0, "none", "").value(), "");
  for (const auto* text : {"", "admin_user none\n", "admin_user root\n"})
    EXPECT_THAT(submitting_user(0, "100", text).error().message,
                testing::HasSubstr("root may not submit jobs (min_uid 100)"));
}

} // namespace

} // namespace shim::ge
