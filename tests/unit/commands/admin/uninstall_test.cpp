// What happens when an installation cannot be finished, and its reverse.
#include "install_fixture.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace shim::commands {

namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Uninstall : public test::InstallTest {
protected:
  std::string starter() const { return prefix + "/libexec/starter_method.sh"; }
  std::vector<std::string> left() const {
    std::vector<std::string> files;
    if (fs::exists(prefix))
      for (const auto& entry : fs::recursive_directory_iterator(prefix))
        files.push_back(fs::relative(entry.path(), prefix));
    std::sort(files.begin(), files.end());
    return files;
  }
  void install() { ASSERT_EQ(run({"--apply", "--yes"}), 0) << err << out; }
};

INSTANTIATE_TEST_SUITE_P(Engines, Uninstall, testing::Bool(), [](const auto& engine) {
  return std::string(engine.param ? "ocs_9" : "sge_8");
});

// ---- a failure half way

TEST_P(Uninstall, a_refusal_half_way_takes_everything_back) {
  const auto before = cell.state();
  for (const auto& call : {"qconf -mattr queue starter_method " + starter() + " gpu.q",
                           "qconf -mattr queue starter_method " + starter() + " batch.q"}) {
    cell.failing = {call};
    EXPECT_EQ(run({"--apply", "--yes"}), 3);
    EXPECT_THAT(err,
                AllOf(HasSubstr("denied: the test said so"),
                      HasSubstr("Taken back, newest first:\n"),
                      HasSubstr("  slurm-shim\n"),
                      HasSubstr("  " + prefix + "/bin/srun\n"),
                      Not(HasSubstr("Not taken back"))));
    EXPECT_EQ(cell.state(), before);
    EXPECT_FALSE(fs::exists(prefix));
  }
  cell.failing.clear();
  install();
}

TEST_P(Uninstall, what_cannot_be_taken_back_is_told_as_commands) {
  cell.failing = {"qconf -mattr queue starter_method " + starter() + " gpu.q",
                  "qconf -mattr queue starter_method NONE batch.q"};
  EXPECT_EQ(run({"--apply", "--yes"}), 3);
  EXPECT_THAT(err,
              AllOf(HasSubstr("Not taken back; these commands do it:\n"),
                    HasSubstr("  qconf -mattr queue starter_method NONE batch.q   # "),
                    HasSubstr(starter() + "   # not before the commands above\n")));
  // What a queue still names has to be there.
  EXPECT_TRUE(fs::exists(starter()));
  EXPECT_TRUE(fs::exists(prefix + "/bin/slurm-shim-env"));
}

TEST_P(Uninstall, files_of_before_come_back) {
  install();
  const auto sum_of = [&] { return posix::read_file(starter()).value(); };
  std::ofstream(starter(), std::ios::app) << "# slurm-shim, an older one\n";
  const auto older = sum_of();
  cell.queues.at("gpu.q").set("starter_method", "NONE");
  cell.failing = {"qconf -mattr queue starter_method " + starter() + " gpu.q"};
  EXPECT_EQ(run({"--apply", "--yes"}), 3);
  EXPECT_EQ(sum_of(), older);
  EXPECT_TRUE(fs::exists(prefix + "/bin/srun"));
}

TEST_P(Uninstall, a_pe_of_the_sites_gets_its_values_back) {
  cell.pes["slurm-shim"] = cell.pes.at("make");
  cell.pes["slurm-shim"].set("pe_name", "slurm-shim");
  const auto before = cell.state();
  cell.failing = {"qconf -mattr queue starter_method " + starter() + " gpu.q"};
  EXPECT_EQ(run({"--apply", "--yes"}), 3);
  EXPECT_EQ(cell.state(), before);
}

TEST_P(Uninstall, each_step_that_is_refused_leaves_nothing) {
  const auto before = cell.state();
  install();
  auto calls = cell.changes;
  ASSERT_EQ(run({"--uninstall", "--purge", "--apply", "--yes"}), 0) << err;
  ASSERT_EQ(cell.state(), before);
  for (const auto& call : calls) {
    if (call.find(" -Ap ") != std::string::npos) continue; // its file has another name each time
    cell.failing = {call};
    EXPECT_EQ(run({"--apply", "--yes"}), 3) << call;
    EXPECT_EQ(cell.state(), before) << call;
    EXPECT_THAT(left(), testing::IsEmpty()) << call;
    // One that says yes and does nothing is found out; of a list, each name is tried again alone.
    cell.failing.clear();
    if (call.find(" -aattr ") != std::string::npos) continue;
    cell.pretending = {call};
    EXPECT_EQ(run({"--apply", "--yes"}), 3) << call;
    EXPECT_EQ(cell.state(), before) << call;
    cell.pretending.clear();
  }
}

// ---- every host is tried before a starter is set

TEST_P(Uninstall, every_host_is_tried_first) {
  install();
  EXPECT_THAT(cell.visited, ElementsAre("n1", "n2"));
  EXPECT_THAT(out, HasSubstr("verified on n1, n2\n"));
}

TEST_P(Uninstall, a_host_without_the_files_stops_the_installation) {
  const auto before = cell.state();
  cell.host_answers["n2"] = {1, "", "qrsh_starter: executing child process failed\n"};
  EXPECT_EQ(run({"--apply", "--yes"}), 3);
  EXPECT_THAT(err, AllOf(HasSubstr("host n2: "), HasSubstr("the same folder on every host")));
  EXPECT_EQ(cell.state(), before);
  cell.host_answers["n2"] = {0, "slurm-shim 0.0.1 (slurm 24.05.0)\n", ""};
  EXPECT_EQ(run({"--apply", "--yes"}), 3);
  EXPECT_EQ(run({"--apply", "--yes", "--trust-shared"}), 0) << err;
}

TEST_P(Uninstall, a_host_that_cannot_be_asked_is_told) {
  cell.host_answers["n2"] = {
      1, "", "Your \"qrsh\" request could not be scheduled, try again later.\n"};
  EXPECT_EQ(run({"--apply", "--yes"}), 0) << err;
  EXPECT_THAT(err, AllOf(HasSubstr("not looked at: n2: "), HasSubstr("doctor --hosts all")));
}

TEST_P(Uninstall, no_starter_is_set_no_host_is_tried) {
  EXPECT_EQ(run({"--apply", "--yes", "--no-starter"}), 0) << err;
  EXPECT_THAT(cell.visited, testing::IsEmpty());
}

// ---- blocked entries

TEST_P(Uninstall, skip_blocked_does_the_rest) {
  cell.queues.at("gpu.q").set("starter_method", "/site/starter");
  EXPECT_EQ(run({"--apply", "--yes", "--skip-blocked"}), 0) << err;
  EXPECT_EQ(attribute("batch.q", "starter_method"), starter());
  EXPECT_EQ(attribute("gpu.q", "starter_method"), "/site/starter");
}

TEST_P(Uninstall, skip_blocked_skips_nothing_that_is_needed) {
  cell.pes["slurm-shim"] = cell.pes.at("make");
  cell.pes["slurm-shim"].set("start_proc_args", "/site/hook");
  const auto before = cell.state();
  EXPECT_EQ(run({"--apply", "--yes", "--skip-blocked"}), 2);
  EXPECT_THAT(err, HasSubstr("slurm-shim is blocked and cannot be skipped"));
  EXPECT_EQ(cell.state(), before);
  EXPECT_FALSE(fs::exists(prefix));
}

// ---- the reverse

TEST_P(Uninstall, leaves_the_cluster_as_it_was) {
  const auto before = cell.state();
  install();
  EXPECT_EQ(run({"--uninstall"}), 0) << err;
  EXPECT_THAT(
      out,
      AllOf(HasSubstr("slurm-shim uninstall plan (nothing has been changed)"),
            HasSubstr("[remove]  queue   batch.q starter_method  " + starter() + " -> NONE"),
            HasSubstr("qconf -dp slurm-shim\n")));
  EXPECT_NE(cell.state(), before);
  EXPECT_EQ(run({"--uninstall", "--apply", "--yes"}), 0) << err << out;
  EXPECT_EQ(cell.state(), before);
  EXPECT_THAT(left(), ElementsAre("etc", "etc/config.yaml"));
  EXPECT_EQ(run({"--uninstall"}), 1);
  EXPECT_THAT(err, HasSubstr("etc/install.json"));
}

TEST_P(Uninstall, purge_removes_the_configuration_too) {
  install();
  EXPECT_EQ(run({"--uninstall", "--purge", "--apply", "--yes"}), 0) << err;
  EXPECT_THAT(left(), testing::IsEmpty());
}

TEST_P(Uninstall, leaves_what_is_not_ours) {
  install();
  cell.queues.at("gpu.q").set("starter_method", "/site/starter");
  cell.pes.at("slurm-shim").set("start_proc_args", "/site/hook");
  std::ofstream(prefix + "/etc/profile.sh", std::ios::app) << "# the site's\n";
  std::ofstream(prefix + "/bin/tool") << "the site's\n";
  fs::remove(prefix + "/bin/srun");
  std::ofstream(prefix + "/bin/srun") << "a real one\n";
  EXPECT_EQ(run({"--uninstall", "--apply", "--yes"}), 0) << err << out;
  EXPECT_EQ(attribute("gpu.q", "starter_method"), "/site/starter");
  EXPECT_EQ(attribute("batch.q", "starter_method"), "NONE");
  EXPECT_TRUE(cell.pes.contains("slurm-shim"));
  EXPECT_THAT(left(),
              AllOf(Contains("bin/tool"),
                    Contains("bin/srun"),
                    Contains("etc/profile.sh"),
                    Not(Contains("bin/sbatch")),
                    Not(Contains("bin/slurm-shim"))));
}

TEST_P(Uninstall, waits_for_jobs_of_the_pe) {
  install();
  const auto before = cell.state();
  cell.running_jobs = "job-ID prior name user state submit/start at queue slots\n----\n"
                      "  71 0.5 x alice qw 11/30/2026 01:42:26 2\n";
  EXPECT_EQ(run({"--uninstall", "--apply", "--yes"}), 2);
  EXPECT_THAT(out, HasSubstr("1 jobs use it"));
  EXPECT_EQ(cell.state(), before);
}

TEST_P(Uninstall, one_queue_alone) {
  install();
  EXPECT_EQ(run({"--uninstall", "--queue", "gpu.q", "--apply", "--yes"}), 0) << err;
  EXPECT_EQ(attribute("gpu.q", "starter_method"), "NONE");
  EXPECT_EQ(attribute("gpu.q", "pe_list"), "make");
  EXPECT_EQ(attribute("batch.q", "starter_method"), starter());
  EXPECT_TRUE(fs::exists(starter()));
  EXPECT_TRUE(fs::exists(prefix + "/etc/install.json"));
}

TEST_P(Uninstall, every_hosts_part_is_unwired) {
  cell.queues.at("gpu.q").set("starter_method", "NONE,[n1=NONE]");
  cell.queues.at("gpu.q").set("pe_list", "make,[n1=make]");
  const auto before = cell.state();
  install();
  EXPECT_EQ(attribute("gpu.q", "starter_method"), starter() + ",[n1=" + starter() + "]");
  EXPECT_EQ(run({"--uninstall", "--apply", "--yes"}), 0) << err;
  EXPECT_EQ(cell.state(), before);
}

TEST_P(Uninstall, a_pe_that_was_there_before_stays) {
  cell.pes["slurm-shim"] = cell.pes.at("make");
  cell.pes["slurm-shim"].set("pe_name", "slurm-shim");
  const auto before = cell.state();
  install();
  EXPECT_EQ(run({"--uninstall", "--apply", "--yes"}), 0) << err << out;
  EXPECT_EQ(cell.state(), before);
}

TEST_P(Uninstall, needs_its_manifest_and_rights) {
  EXPECT_EQ(run({"--uninstall"}), 1);
  EXPECT_THAT(err, HasSubstr("install.json"));
  install();
  cell.managers = {"root"};
  EXPECT_EQ(run({"--uninstall", "--apply", "--yes"}), 1);
  EXPECT_THAT(err, HasSubstr("not in \"qconf -sm\""));
  std::ofstream(prefix + "/etc/install.json") << "[]";
  EXPECT_EQ(run({"--uninstall"}), 1);
  EXPECT_THAT(err, HasSubstr("is no manifest"));
}

TEST_P(Uninstall, json_is_one_document_with_the_outcome) {
  const auto outcome = [&] { return nlohmann::json::parse(out).at("result"); };
  EXPECT_EQ(run({"--json"}), 0);
  EXPECT_EQ(outcome(), "plan");
  cell.failing = {"qconf -mattr queue starter_method " + starter() + " gpu.q"};
  EXPECT_EQ(run({"--json", "--apply"}), 3);
  EXPECT_EQ(outcome(), "failed");
  EXPECT_FALSE(nlohmann::json::parse(out).at("undone").empty());
  cell.failing.clear();
  EXPECT_EQ(run({"--json", "--apply"}), 0);
  EXPECT_EQ(outcome(), "applied");
  EXPECT_EQ(run({"--json", "--apply"}), 0);
  EXPECT_EQ(outcome(), "unchanged");
  EXPECT_EQ(run({"--json", "--apply", "--uninstall"}), 0);
  EXPECT_GT(nlohmann::json::parse(out).at("summary").at("remove"), 5);
}

TEST_P(Uninstall, words_that_do_not_go_together) {
  for (const auto& words : std::vector<std::vector<std::string>>{{"--purge"},
                                                                 {"--skip-blocked"},
                                                                 {"--uninstall", "--no-starter"},
                                                                 {"--uninstall", "--config", "/x"},
                                                                 {"--verify-user", "a b"}}) {
    EXPECT_EQ(run(words), 1) << words.front();
    EXPECT_EQ(out, "");
    EXPECT_THAT(err, HasSubstr("slurm-shim: error: install: --"));
  }
}

} // namespace

} // namespace shim::commands
