#include "slurm_shim/ge/qconf.h"
#include "slurm_shim/posix/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "support/temp_dir.h"
#include <sys/stat.h>

namespace shim::ge {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string fixture(const std::string& name) {
  return posix::read_file(std::string(SHIM_TEST_DATA) + "/fixtures/" + name).value();
}

TEST(Qconf, joins_wrapped_lines) {
  const auto queue = parse_attributes(fixture("8.1.9/qconf-sq-batch.q.stdout"));
  EXPECT_EQ(queue.get("qname"), "batch.q");
  EXPECT_EQ(queue.get("starter_method"), "NONE");
  EXPECT_EQ(queue.get("qtype"), "BATCH INTERACTIVE");
  EXPECT_THAT(parse_name_list(queue.get_or("pe_list", "")),
              ElementsAre("slurm-shim",
                          "fill",
                          "smp",
                          "slurm-shim-1",
                          "slurm-shim-2",
                          "slurm-shim-4",
                          "slurm-shim-8",
                          "loose"));
  EXPECT_FALSE(queue.get("nope"));
  const auto conf = parse_attributes(fixture("8.1.9/qconf-sconf.stdout"));
  EXPECT_EQ(conf.get("execd_spool_dir"), "/var/spool/gridengine/execd");
  EXPECT_EQ(conf.get("reporting_params"),
            "accounting=true reporting=false flush_time=00:00:01 accounting_flush_time=00:00:00 "
            "joblog=false sharelog=00:00:00");
}

TEST(Qconf, keeps_the_attributes_of_each_version) {
  const auto old = parse_attributes(fixture("8.1.9/qconf-sp-smp.stdout"));
  EXPECT_EQ(old.entries().size(), 12U);
  EXPECT_EQ(old.get("allocation_rule"), "$pe_slots");
  EXPECT_EQ(old.get("qsort_args"), "NONE");
  const auto young = parse_attributes(fixture("9.1.5/qconf-sp-new.stdout"));
  EXPECT_EQ(young.entries().size(), 14U);
  EXPECT_EQ(young.get("start_proc_args"), "/bin/true arg $pe_hostfile");
  EXPECT_EQ(parse_attributes(young.text()).entries(), young.entries());
}

TEST(Qconf, makes_no_attribute_of_continued_blanks) {
  EXPECT_TRUE(parse_attributes("\\\n\n").entries().empty());
  const auto continued = parse_attributes(" \\\npe_list \\\n  a b\n");
  ASSERT_EQ(continued.entries().size(), 1U);
  EXPECT_EQ(continued.get("pe_list"), "a b");
}

TEST(Qconf, splits_values_by_host) {
  const auto queue = parse_attributes(fixture("9.1.5/qconf-sq-host-override.stdout"));
  const auto starter = parse_host_value(queue.get_or("starter_method", ""));
  EXPECT_EQ(starter.fallback, "NONE");
  ASSERT_EQ(starter.overrides.size(), 1U);
  EXPECT_EQ(starter.overrides[0].first, "ocs-worker1");
  EXPECT_EQ(starter.overrides[0].second, "/z");
  const auto list = parse_host_value("make smp, [n1=make],[@big=a b]");
  EXPECT_EQ(list.fallback, "make smp");
  ASSERT_EQ(list.overrides.size(), 2U);
  EXPECT_EQ(list.overrides[1].first + "|" + list.overrides[1].second, "@big|a b");
  EXPECT_EQ(parse_host_value("").fallback, "");
  EXPECT_EQ(parse_host_value("/x,[n1").fallback, "/x");
  EXPECT_THAT(parse_name_list("a, b  c,NONE"), ElementsAre("a", "b", "c"));
}

TEST(Qconf, reads_the_table_of_complexes) {
  const auto complexes = parse_complexes(fixture("8.1.9/qconf-sc.stdout"));
  const auto gpu = std::find_if(
      complexes.begin(), complexes.end(), [](const Complex& c) { return c.name == "gpu"; });
  ASSERT_NE(gpu, complexes.end());
  EXPECT_EQ(gpu->type + gpu->consumable + gpu->default_value, "INTYES0");
  EXPECT_EQ(complexes.front().name, "arch");
}

// Answers each call line from a table.
class TableRunner final : public posix::Runner {
public:
  Result<posix::Output> run(const posix::RunRequest& request) override {
    std::string line(posix::base_name(request.argv.at(0)));
    for (std::size_t i = 1; i < request.argv.size(); ++i)
      line += " " + request.argv[i];
    return answers.at(line);
  }
  std::map<std::string, posix::Output> answers;
};

class QconfCalls : public testing::Test {
protected:
  void SetUp() override {
    for (const auto* tool : {"qconf", "qstat", "qsub"}) {
      std::ofstream(m_dir / tool) << "#!/bin/false\n";
      ::chmod((m_dir / tool).c_str(), 0755);
    }
  }
  test::TempDir m_dir;
  TableRunner runner;
  EnvList env{std::vector<std::string>{"SLURM_SHIM_GE_BIN=" + m_dir.path()}};
  Tools tools{runner, env, std::chrono::seconds(5)};
  Qconf qconf{tools};
};

TEST_F(QconfCalls, tell_a_missing_object_from_a_failure_to_ask) {
  runner.answers["qconf -sp nosuch"] = {1, "", fixture("8.1.9/qconf-sp-missing.stderr")};
  runner.answers["qconf -sq nosuch.q"] = {1, "", fixture("8.1.9/qconf-sq-missing.stderr")};
  runner.answers["qconf -sp x"] = {1, "", "error: commlib error: got select error\n"};
  runner.answers["qconf -sp old"] = {0, "", "error: unable to send message to qmaster\n"};
  EXPECT_FALSE(qconf.show("-sp", "nosuch").value());
  EXPECT_FALSE(qconf.show("-sq", "nosuch.q").value());
  const auto lost = qconf.show("-sp", "x");
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(lost.error().message, "qconf -sp x: error: commlib error: got select error");
  EXPECT_FALSE(qconf.show("-sp", "old")); // an exit code of 0 is not believed
}

TEST_F(QconfCalls, list_names_and_take_none_for_an_empty_list) {
  runner.answers["qconf -sm"] = {0, fixture("8.1.9/qconf-sm.stdout"), ""};
  runner.answers["qconf -spl"] = {1, "", "no parallel environment defined\n"};
  runner.answers["qconf -sql"] = {1, "", "denied: something\n"};
  EXPECT_THAT(qconf.list("-sm").value(), ElementsAre("root", "sgeadmin"));
  EXPECT_TRUE(qconf.list("-spl").value().empty());
  EXPECT_EQ(qconf.list("-sql").error().message, "qconf -sql: denied: something");
}

TEST_F(QconfCalls, know_the_engine) {
  runner.answers["qstat -help"] = {0, "SGE 8.1.9\nusage: qstat [options]\n", ""};
  runner.answers["qsub -help"] = {0, "OCS 9.1.5\n   [-par allocation_rule]  pins it\n", ""};
  EXPECT_EQ(qconf.engine_version().value(), "SGE 8.1.9");
  EXPECT_TRUE(qconf.knows_par().value());
  runner.answers["qsub -help"] = {0, "SGE 8.1.9\n   [-p priority]\n", ""};
  EXPECT_FALSE(qconf.knows_par().value());
  runner.answers["qsub -help"] = {1, "", "no such thing"};
  EXPECT_FALSE(qconf.knows_par());
}

TEST_F(QconfCalls, carry_what_qconf_refused) {
  runner.answers["qconf -mattr queue slots 9 batch.q"] = {
      1, "", "denied: \"user1\" must be manager for this operation\n"};
  const auto changed = qconf.change({"-mattr", "queue", "slots", "9", "batch.q"});
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().kind, ErrorKind::refused);
  EXPECT_THAT(changed.error().message, HasSubstr("must be manager for this operation"));
}

} // namespace

} // namespace shim::ge
