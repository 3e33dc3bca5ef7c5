// --hosts: C12, C19, C22 and C17 of other hosts, from the reports that doctor gets of itself there.
#include "host_report.h"
#include "world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shim::commands {

namespace {

using test::DoctorWorld;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

const std::string k_qrsh = "qrsh -clear -now y -nostdin -noshell -N slurm-shim -l h=";

class Hosts : public testing::Test {
protected:
  std::string sum(const std::string& path) {
    posix::ProcessRunner runner;
    return doctor::checksum(runner, path);
  }
  nlohmann::json report() {
    return {{"version", "9.9"},
            {"binary", sum(world.prefix + "/bin/slurm-shim")},
            {"config", sum(world.root + "/config.yaml")},
            {"time_ms", world.clock.now + 1500},
            {"spool", {{"state", "closed"}, {"text", "/spool has mode 0750"}}},
            {"dial", ""}};
  }
  void answer(const std::string& host, const nlohmann::json& json) {
    world.answer(k_qrsh + host, 0, "slurm-shim-host-report " + json.dump() + "\n");
  }
  nlohmann::json check(const std::string& id, const std::string& hosts = "n2") {
    return world.check(id, {"--hosts", hosts});
  }
  DoctorWorld world;
};

TEST_F(Hosts, with_the_same_binary_and_file_pass) {
  answer("n2", report());
  answer("n3", report());
  auto found = check("C12", "n2,n3");
  EXPECT_EQ(found["status"], "pass") << found;
  EXPECT_EQ(found["message"], "2 hosts have the same binary and configuration");
  EXPECT_EQ(check("C19", "n2,n3")["status"], "pass");
  EXPECT_THAT(check("C22")["message"].get<std::string>(), HasSubstr("n2 +1.5 s"));
  EXPECT_THAT(
      world.calls,
      Contains(AllOf(HasSubstr("h=n2 " + world.prefix + "/bin/slurm-shim doctor --host-report"),
                     HasSubstr("--dial=10.0.0.1:61"),
                     HasSubstr("--config-path=" + world.root + "/config.yaml"))));
}

TEST_F(Hosts, all_are_those_of_the_engine) {
  answer("n2", report());
  answer(world.host, report());
  EXPECT_EQ(check("C12", "all")["message"], "2 hosts have the same binary and configuration");
}

TEST_F(Hosts, with_another_binary_fail) {
  auto json = report();
  json["binary"] = "0";
  answer("n2", json);
  const auto found = check("C12");
  EXPECT_EQ(found["status"], "fail");
  EXPECT_THAT(found["message"].get<std::string>(), HasSubstr("n2: 9.9"));
}

TEST_F(Hosts, with_another_file_fail) {
  auto json = report();
  json["config"] = "";
  answer("n2", json);
  EXPECT_EQ(check("C12")["status"], "fail");
}

TEST_F(Hosts, without_the_binary_fail) {
  world.answer(k_qrsh + "n2", 1, "", "qrsh_starter: executing child process failed\n");
  const auto found = check("C12");
  EXPECT_EQ(found["status"], "fail");
  EXPECT_THAT(found["message"].get<std::string>(), HasSubstr("qrsh_starter"));
  EXPECT_THAT(found["advice"][0].get<std::string>(), HasSubstr("the same on every host"));
  EXPECT_EQ(check("C19")["status"], "skip");
}

TEST_F(Hosts, without_a_free_slot_warn) {
  world.answer(
      k_qrsh + "n2", 1, "", "Your \"qrsh\" request could not be scheduled, try again later.\n");
  const auto found = check("C12");
  EXPECT_EQ(found["status"], "warn");
  EXPECT_THAT(found["message"].get<std::string>(), HasSubstr("n2: no free slot"));
}

TEST_F(Hosts, that_hang_cost_their_limit_and_no_more) {
  world.hanging.insert(k_qrsh + "n2");
  answer("n3", report());
  const auto found = check("C12", "n2,n3");
  EXPECT_EQ(found["status"], "fail");
  EXPECT_THAT(found["message"].get<std::string>(), HasSubstr("n2: "));
  EXPECT_LE(world.clock.now, 1796000000000 + 11000);
}

TEST_F(Hosts, that_do_not_reach_us_fail) {
  auto json = report();
  json["dial"] = "10.0.0.1:61000: Connection timed out";
  answer("n2", json);
  const auto found = check("C19");
  EXPECT_EQ(found["status"], "fail");
  EXPECT_THAT(found["message"].get<std::string>(), HasSubstr("Connection timed out"));
  EXPECT_THAT(found["advice"][0].get<std::string>(), HasSubstr("slurm-shim ports"));
}

TEST_F(Hosts, with_an_open_spool_folder_warn) {
  auto json = report();
  json["spool"] = {{"state", "open"}, {"text", "every folder"}};
  answer("n2", json);
  // C17 alone asks them, too.
  world.doctor({"--json", "--hosts", "n2", "--check", "C17"});
  const auto checks = nlohmann::json::parse(world.out)["checks"];
  EXPECT_EQ(checks[0]["status"], "warn");
  EXPECT_THAT(checks[0]["message"].get<std::string>(), HasSubstr("n2: every folder"));
}

TEST_F(Hosts, a_report_that_is_none_is_no_report) {
  for (const auto* text : {"",
                           "hello",
                           "slurm-shim-host-report ",
                           "slurm-shim-host-report {}\n",
                           "slurm-shim-host-report [1]\n"})
    EXPECT_THAT(doctor::parse_host_report(text, 0).error, HasSubstr("no report")) << text;
}

TEST_F(Hosts, the_far_side_tells_what_it_has) {
  world.env.set("SGE_JOB_SPOOL_DIR",
                world.root + "/spool/" + world.short_host() + "/active_jobs/7.1");
  EXPECT_EQ(world.doctor({"--host-report", "--config-path", world.root + "/config.yaml"}), 0);
  const auto found = doctor::parse_host_report(world.out, world.clock.now);
  EXPECT_EQ(found.error, "");
  EXPECT_EQ(found.config_sum, sum(world.root + "/config.yaml"));
  EXPECT_EQ(found.config_sum.size(), 64U);
  EXPECT_EQ(found.spool_finding, "closed");
  EXPECT_EQ(found.dial, "nothing to dial");
}

} // namespace

} // namespace shim::commands
