// The PE hook over real folders, with a Runner in place of getent and qstat.
#include "slurm_shim/base/strings.h"
#include "slurm_shim/commands/env.h"
#include "slurm_shim/layout/layout.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/records/batch_json.h"
#include "slurm_shim/records/submit_file.h"
#include "slurm_shim/records/submit_record.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <sys/stat.h>
#include <unistd.h>

namespace shim::commands {
namespace {

namespace fs = std::filesystem;

class Tools final : public posix::Runner {
public:
  Result<posix::Output> run(const posix::RunRequest& request) override {
    const auto tool = std::string(posix::base_name(request.argv[0]));
    calls.push_back(tool);
    if (tool == "getent") return posix::Output{0, "10.0.0.11 STREAM n1\n", ""};
    if (qstat.empty()) return fail(ErrorKind::unavailable, "qstat: no answer in 5 s");
    return posix::Output{0, qstat, ""};
  }
  [[nodiscard]] long asked_qstat() const { return std::count(calls.begin(), calls.end(), "qstat"); }
  std::string qstat;
  std::vector<std::string> calls;
};

class Hook : public testing::Test {
protected:
  void SetUp() override {
    m_root = testing::TempDir() + "hook_" + posix::random_hex(4);
    for (const auto* name : {"/tmp", "/bin", "/state/submit", "/state/jobs", "/etc"})
      ASSERT_TRUE(posix::make_directories(m_root + name));
    put("/bin/qstat", "", 0755);
    put("/etc/config.yaml", "qstat_timeout: 5s\n");
    put("/hosts", "n1 4 batch.q@n1 UNDEFINED\nn2 4 batch.q@n2 UNDEFINED\n");
    env = EnvList({"JOB_ID=42",
                   "JOB_NAME=train",
                   "SGE_TASK_ID=undefined",
                   "RESTARTED=0",
                   "USER=u",
                   "HOME=" + m_root,
                   "PE=slurm-shim",
                   "QUEUE=batch.q",
                   "SGE_CWD_PATH=/work",
                   "SLURM_SHIM_CONFIG=" + m_root + "/etc/config.yaml",
                   "SLURM_SHIM_GE_BIN=" + m_root + "/bin",
                   "TMPDIR=" + m_root + "/tmp",
                   "PE_HOSTFILE=" + m_root + "/hosts"});
  }
  void TearDown() override { fs::remove_all(m_root); }

  void put(const std::string& name, const std::string& text, unsigned mode = 0600) const {
    ASSERT_TRUE(posix::write_file_atomic(m_root + name, text, mode));
  }
  int run(const std::vector<std::string>& words = {}) {
    out.emplace();
    err.emplace();
    context::Context ctx{"slurm-shim", env, *out, *err, tools, clock, {}};
    return run_env(ctx, words);
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return m_root + "/tmp/slurm_shim" + name;
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    return posix::read_trusted(path(name)).value_or("(missing)");
  }
  void set_record(const std::vector<std::pair<std::string, std::string>>& values) {
    records::SubmitRecord record;
    record.set("tok", "9f3c21d07be84a55");
    record.set("dir", m_root + "/state");
    for (const auto& [key, value] : values)
      record.set(key, value);
    env.set("SLURM_SHIM_REQ", record.encode());
  }
  void expect_failure(const std::string& reason) {
    EXPECT_EQ(run(), 0);
    EXPECT_EQ(read("/environment.failed"), reason + "\n");
    EXPECT_EQ(err->text(), "slurm-shim-env: error: " + reason + "\n");
    EXPECT_FALSE(posix::exists(path("/environment")));
  }

  std::string m_root;
  EnvList env;
  Tools tools;
  posix::SystemClock clock;
  std::optional<StringSink> out, err;
};

TEST_F(Hook, makes_the_folder_of_a_plain_job) {
  ASSERT_EQ(run(), 0);
  EXPECT_EQ(read("/stepctr"), "-1\n");
  EXPECT_EQ(read("/lock"), "");
  EXPECT_EQ(read("/batch.json"), "(missing)");
  EXPECT_EQ(read("/environment.failed"), "(missing)");
  EXPECT_NE(read("/environment").find("export SLURM_JOB_NODELIST='n[1-2]'\n"), std::string::npos);
  EXPECT_EQ(fs::read_symlink(path("/shim")), posix::self_path().value());
  const auto found = layout::find(env);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->layout.nodes[0].ip, "10.0.0.11");
  EXPECT_EQ(out->text(), "");
}

TEST_F(Hook, what_scontrol_changed_since_the_submission_counts) {
  set_record({{"name", "before"}, {"time", "10"}});
  records::SubmitRecord changed;
  changed.set("tok", "9f3c21d07be84a55");
  changed.set("dir", m_root + "/state");
  changed.set("name", "after");
  records::SubmitFile file;
  file.tok = "9f3c21d07be84a55";
  file.job = 42;
  file.req = changed.encode();
  const records::StatePaths state(m_root + "/state");
  ASSERT_TRUE(records::write_submit_file(state, file));
  ASSERT_EQ(run(), 0);
  EXPECT_NE(read("/environment").find("export SLURM_JOB_NAME='after'\n"), std::string::npos);
  // The file of another submission of that number, or none that can be read, changes nothing.
  file.tok = "0000000000000000";
  ASSERT_TRUE(records::write_submit_file(state, file));
  ASSERT_EQ(run(), 0);
  EXPECT_NE(read("/environment").find("export SLURM_JOB_NAME='before'\n"), std::string::npos);
  ASSERT_TRUE(posix::write_file_atomic(state.submit_file(42), "{", 0600));
  ASSERT_EQ(run(), 0);
  EXPECT_NE(read("/environment").find("export SLURM_JOB_NAME='before'\n"), std::string::npos);
}

TEST_F(Hook, files_are_private_whatever_the_umask) {
  const auto before = ::umask(0);
  ASSERT_EQ(run(), 0);
  ::umask(before);
  struct stat info {};
  ASSERT_EQ(::stat(path("").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0700U);
  for (const auto* name : {"/environment", "/layout.json", "/stepctr", "/lock"}) {
    ASSERT_EQ(::stat(path(name).c_str(), &info), 0) << name;
    EXPECT_EQ(info.st_mode & 07777U, 0600U) << name;
  }
}

TEST_F(Hook, a_plain_job_asks_once_and_goes_on_without_an_answer) {
  ASSERT_EQ(run(), 0);
  EXPECT_EQ(tools.asked_qstat(), 1);
  EXPECT_EQ(err->text(),
            "slurm-shim-env: warning: GPU discovery failed (qstat: no answer in 5 s); continuing "
            "without GPU environment\n"
            "slurm-shim-env: warning: memory discovery failed (qstat: no answer in 5 s); omitting "
            "SLURM_MEM_PER_NODE\n");
}

TEST_F(Hook, grants_come_from_the_engine) {
  std::ifstream file(std::string(SHIM_TEST_DATA) + "/fixtures/9.1.5/cf_rh_arr2pe.qstat-j.xml");
  std::ostringstream text;
  text << file.rdbuf();
  tools.qstat = text.str();
  put("/etc/config.yaml", "gpu:\n  gres_complex: cf_rh\n");
  put("/hosts", "ocs-master 2 cf_q@ocs-master UNDEFINED\nocs-worker1 2 cf_q@x UNDEFINED\n");
  env.set("JOB_ID", "536");
  env.set("SGE_TASK_ID", "6");
  ASSERT_EQ(run(), 0) << err->text();
  EXPECT_EQ(err->text(), "");
  const auto found = layout::find(env).value();
  EXPECT_EQ(found.layout.nodes[0].gpus, std::vector<std::string>{"0"});
  EXPECT_EQ(found.layout.nodes[1].gpus, std::vector<std::string>{"1"});
  EXPECT_EQ(found.layout.job.mem_per_node_mb, 400);
}

TEST_F(Hook, a_job_from_sbatch_has_its_record_and_asks_nothing) {
  set_record({{"nodes", "2"}, {"tpn", "4"}, {"ntasks", "8"}, {"name", "7b train"}, {"env", "1"}});
  ASSERT_EQ(run(), 0);
  EXPECT_EQ(err->text(), "");
  EXPECT_EQ(tools.asked_qstat(), 0);
  const auto job = records::read_batch_json(records::JobFolder(path("")));
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->tok, "9f3c21d07be84a55");
  EXPECT_EQ(job->job, 42);
  EXPECT_EQ(job->name, "7b train");
  EXPECT_EQ(job->wd, "/work");
  EXPECT_EQ(job->user, "u");
  EXPECT_EQ(job->host, posix::host_name());
  EXPECT_EQ(job->restart, 0);
  EXPECT_NE(read("/environment").find("export SLURM_NTASKS='8'\n"), std::string::npos);
}

TEST_F(Hook, restarts_are_counted_from_the_job_record) {
  set_record({{"nodes", "2"}});
  env.set("RESTARTED", "1");
  ASSERT_EQ(run(), 0);
  EXPECT_EQ(records::read_batch_json(records::JobFolder(path("")))->restart, 1);
  EXPECT_NE(read("/environment").find("export SLURM_RESTART_COUNT='1'\n"), std::string::npos);
}

TEST_F(Hook, a_long_record_is_read_from_its_file) {
  set_record({{"file", "1"}});
  records::SubmitRecord full;
  full.set("tok", "9f3c21d07be84a55");
  full.set("dir", m_root + "/state");
  full.set("nodes", "2");
  full.set("name", std::string(9000, 'x'));
  put("/state/submit/9f3c21d07be84a55.req", full.encode() + "\n");
  ASSERT_EQ(run(), 0);
  EXPECT_EQ(records::read_batch_json(records::JobFolder(path("")))->name.size(), 9000U);
}

TEST_F(Hook, a_record_file_that_does_not_show_up_is_told_with_its_place) {
  set_record({{"file", "1"}});
  expect_failure("submit record file " + m_root + "/state/submit/9f3c21d07be84a55.req is not " +
                 "visible on " + posix::host_name() + ": is " + m_root +
                 "/state on a file system all hosts share?");
}

TEST_F(Hook, a_broken_record_is_a_plain_job) {
  env.set("SLURM_SHIM_REQ", "v2;tok=1");
  ASSERT_EQ(run(), 0);
  EXPECT_NE(err->text().find("; using the task policy\n"), std::string::npos);
  EXPECT_EQ(read("/batch.json"), "(missing)");
  EXPECT_NE(read("/environment"), "(missing)");
}

TEST_F(Hook, every_failure_is_a_file_and_exit_0) {
  put("/hosts", "n1\n");
  expect_failure("PE_HOSTFILE line 1: missing slot count: \"n1\"");
  env.set("PE_HOSTFILE", m_root + "/none");
  EXPECT_EQ(run(), 0);
  EXPECT_TRUE(read("/environment.failed").starts_with("PE_HOSTFILE: "))
      << read("/environment.failed");
}

TEST_F(Hook, a_malformed_configuration_still_leaves_what_the_supervisor_needs) {
  set_record({{"nodes", "2"}});
  put("/etc/config.yaml", "launcher: [\n");
  EXPECT_EQ(run(), 0);
  EXPECT_TRUE(read("/environment.failed").starts_with("config: " + m_root + "/etc/config.yaml:"))
      << read("/environment.failed");
  EXPECT_NE(read("/batch.json"), "(missing)");
}

TEST_F(Hook, success_after_failure_takes_the_failure_away_and_the_reverse) {
  put("/hosts", "\n");
  expect_failure("PE_HOSTFILE is empty");
  put("/hosts", "n1 1\n");
  ASSERT_EQ(run(), 0);
  EXPECT_EQ(read("/environment.failed"), "(missing)");
  EXPECT_NE(read("/environment"), "(missing)");
  put("/hosts", "\n");
  expect_failure("PE_HOSTFILE is empty");
  EXPECT_EQ(read("/layout.json"), "(missing)");
}

TEST_F(Hook, a_folder_that_others_may_write_is_not_used) {
  ASSERT_TRUE(posix::make_directories(path("")));
  ASSERT_EQ(::chmod(path("").c_str(), 0777), 0);
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(err->text(),
            "slurm-shim-env: error: " + path("") + ": not a folder that is private to this user\n");
  EXPECT_FALSE(posix::exists(path("/environment")));
}

TEST_F(Hook, a_symbolic_link_is_not_followed) {
  ASSERT_TRUE(posix::make_directories(m_root + "/elsewhere"));
  ASSERT_EQ(::symlink((m_root + "/elsewhere").c_str(), path("").c_str()), 0);
  EXPECT_EQ(run(), 0);
  EXPECT_TRUE(fs::is_empty(m_root + "/elsewhere"));
}

TEST_F(Hook, disabled_means_unset_lines_and_no_layout) {
  env.set("SLURM_SHIM_DISABLE", "1");
  ASSERT_EQ(run(), 0);
  const auto text = read("/environment");
  for (const auto line : split(trim(text), '\n'))
    EXPECT_TRUE(line.starts_with("unset ")) << line;
  EXPECT_EQ(read("/layout.json"), "(missing)");
  EXPECT_TRUE(tools.calls.empty());
}

TEST_F(Hook, an_argument_of_the_usual_hooks_does_no_harm) {
  EXPECT_EQ(run({m_root + "/hosts"}), 0);
  EXPECT_NE(read("/environment"), "(missing)");
  EXPECT_EQ(run({"--bogus"}), 1);
  EXPECT_EQ(err->text(), "slurm-shim-env: error: unknown option \"--bogus\"\n");
}

TEST_F(Hook, export_prints_the_text_and_keeps_the_step_counter) {
  ASSERT_EQ(run(), 0);
  const auto text = read("/environment");
  ASSERT_EQ(layout::next_step_id(path("")).value(), 0);
  ASSERT_EQ(run({"--export"}), 0);
  EXPECT_EQ(out->text(), text);
  EXPECT_EQ(read("/stepctr"), "0\n");
}

TEST_F(Hook, a_failing_export_ends_the_job_that_evaluates_it) {
  put("/hosts", "");
  EXPECT_EQ(run({"--export"}), 1);
  EXPECT_EQ(out->text(), "exit 1\n");
  EXPECT_EQ(err->text(), "slurm-shim-env: error: PE_HOSTFILE is empty\n");
}

TEST_F(Hook, cleanup_removes_the_folder_and_never_fails) {
  ASSERT_EQ(run(), 0);
  EXPECT_EQ(run({"--cleanup"}), 0);
  EXPECT_FALSE(posix::exists(path("")));
  EXPECT_EQ(run({"--cleanup"}), 0);
  EXPECT_EQ(err->text(), "");
}

} // namespace
} // namespace shim::commands
