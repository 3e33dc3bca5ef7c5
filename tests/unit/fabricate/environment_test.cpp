// The environment file, read by real shells.
#include "shell_quote.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/fabricate/fabricate.h"
#include "slurm_shim/fabricate/variables.h"
#include "slurm_shim/posix/files.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/case_file.h"
#include <sys/resource.h>

namespace shim::fabricate {
namespace {

TEST(ShellQuote, recorded_cases) {
  for (const auto& c : test::cases_of("shell_quote"))
    EXPECT_EQ(shell_quote(c["in"].get<std::string>()), c["out"].get<std::string>());
}

TEST(JobName, recorded_cases) {
  for (const auto& c : test::cases_of("sanitize")) {
    JobFacts facts;
    facts.env = EnvList({"JOB_ID=1", "JOB_NAME=" + c["in"].get<std::string>()});
    facts.hosts = {{"n1", 1, "", ""}};
    EXPECT_EQ(fabricate(facts)->layout.job.name, c["out"].get<std::string>());
  }
}

class Environment : public testing::TestWithParam<const char*> {
protected:
  void SetUp() override {
    m_root = testing::TempDir() + "env_" + posix::random_hex(4);
    ASSERT_TRUE(posix::make_directories(m_root));
  }
  void TearDown() override { std::filesystem::remove_all(m_root); }

  // The environment of `env` run by the shell after it has sourced the text.
  EnvList source(const std::string& text, const EnvList& before) const {
    const auto path = m_root + "/environment";
    EXPECT_TRUE(posix::write_file_atomic(path, text));
    posix::ProcessRunner runner;
    posix::RunRequest request;
    request.argv = {GetParam(), "-c", ". \"$1\" && exec env -0", GetParam(), path};
    request.env = before;
    const auto output = runner.run(request);
    EXPECT_TRUE(output);
    EXPECT_EQ(output->status, 0) << output->err;
    EXPECT_EQ(output->err, "");
    std::vector<std::string> entries;
    for (const auto entry : split(output->out, '\0'))
      if (!entry.empty()) entries.emplace_back(entry);
    return EnvList(std::move(entries));
  }
  std::string m_root;
};

JobFacts hostile() {
  JobFacts facts;
  facts.env = EnvList({"JOB_ID=7", "SGE_O_HOST=`id`", "SGE_ACCOUNT=a\\b\"c\"$HOME", "QUEUE=q;rm"});
  facts.hosts = {{"n1", 1, "", ""}};
  facts.record.emplace();
  facts.record->set("tok", "0");
  facts.record->set("dir", "/");
  facts.record->set("nodes", "1");
  facts.record->set("name", "it's $(touch hit) `x`\nsecond line\n\xff\xfe'\\''");
  facts.record->set("sdir", "/tmp/a b/'\"*?[!#~]");
  facts.user = "u";
  facts.bin_directory = "/opt/it's here/bin";
  facts.job_folder = "/tmp/$TMPDIR/slurm_shim";
  return facts;
}

TEST_P(Environment, hostile_values_arrive_byte_for_byte) {
  const auto made = fabricate(hostile()).value();
  const auto after = source(made.environment, EnvList({"PATH=/usr/bin:/bin", "SLURM_NTASKS=9"}));
  for (const auto& [name, value] : made.exports)
    EXPECT_EQ(after.get(name), value) << name;
  EXPECT_EQ(after.get("PATH"), "/opt/it's here/bin:/usr/bin:/bin");
  EXPECT_EQ(after.get("SLURM_SHIM_DIR"), "/tmp/$TMPDIR/slurm_shim");
  EXPECT_FALSE(after.has("SLURM_NTASKS")); // an outer job's
  EXPECT_FALSE(posix::exists("hit"));
}

TEST_P(Environment, an_empty_path_gets_no_empty_element) {
  const auto made = fabricate(hostile()).value();
  const auto after = source("PATH=\n" + made.environment + "PATH=\"$PATH:/usr/bin:/bin\"\n",
                            EnvList({"PATH=/usr/bin:/bin"}));
  EXPECT_EQ(after.get("PATH"), "/opt/it's here/bin:/usr/bin:/bin");
}

TEST_P(Environment, disabled_means_unset_lines_only) {
  EnvList before({"PATH=/usr/bin:/bin", "OTHER=1", "SLURM_EXPORT_ENV=ALL"});
  for (const auto name : job_variable_names())
    before.set(name, "outer");
  const auto after = source(unset_text(), before);
  for (const auto name : job_variable_names())
    EXPECT_FALSE(after.has(name)) << name;
  EXPECT_EQ(after.get("OTHER"), "1");
  EXPECT_EQ(after.get("SLURM_EXPORT_ENV"), "ALL");
}

INSTANTIATE_TEST_SUITE_P(Shells,
                         Environment,
                         testing::Values("/bin/sh", "/bin/dash", "/bin/bash"),
                         [](const auto& shell) {
                           return std::string(posix::base_name(shell.param));
                         });

double cpu_seconds() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

TEST(Scale, a_thousand_hosts_take_well_under_a_second) {
  std::string file;
  for (int i = 0; i < 1000; ++i)
    file += "node" + std::to_string(1000 + i) + ".cluster.test 8 all.q@x UNDEFINED\n";
  const auto before = cpu_seconds();
  JobFacts facts;
  facts.env = EnvList({"JOB_ID=7"});
  facts.config.default_task_policy = config::TaskPolicy::slot;
  facts.hosts = granted_hosts(facts.env, file, "node1000").value();
  const auto made = fabricate(facts).value();
  const auto json = layout::to_json(made.layout);
  EXPECT_LT(cpu_seconds() - before, 1.0);
  EXPECT_EQ(made.layout.tasks.ntasks, 8000);
  EXPECT_NE(made.environment.find("export SLURM_JOB_NODELIST='node[1000-1999]'\n"),
            std::string::npos);
  EXPECT_GT(json.size(), 100000U);
}

} // namespace
} // namespace shim::fabricate
