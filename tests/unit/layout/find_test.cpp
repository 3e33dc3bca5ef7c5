#include "slurm_shim/layout/layout.h"
#include "slurm_shim/posix/files.h"

#include <gtest/gtest.h>

#include <filesystem>

#include <sys/stat.h>

namespace shim::layout {
namespace {

class Find : public testing::Test {
protected:
  void SetUp() override {
    m_root = testing::TempDir() + "find_" + posix::random_hex(4);
    ASSERT_TRUE(posix::make_directories(m_root));
  }
  void TearDown() override { std::filesystem::remove_all(m_root); }

  std::string write(const std::string& below, const std::string& job, const std::string& extra) {
    const auto directory = m_root + below;
    EXPECT_TRUE(posix::make_directories(directory));
    EXPECT_TRUE(posix::write_file_atomic(
        directory + "/layout.json",
        R"({"schema_version":1,"nodes":[{"host":"a","slots":1}],"job":{"job_id":)" + job + extra +
            "}}"));
    return directory;
  }
  std::string m_root;
};

TEST_F(Find, the_job_folder_comes_before_tmpdir) {
  const auto own = write("/own", "7", "");
  write("/t/slurm_shim", "7", "");
  const EnvList env({"SLURM_SHIM_DIR=" + own, "TMPDIR=" + m_root + "/t", "JOB_ID=7"});
  EXPECT_EQ(find(env).value().directory, own);
}

TEST_F(Find, a_layout_of_another_job_is_passed_over) {
  const auto own = write("/own", "8", "");
  const auto tmp = write("/t/slurm_shim", "7", "");
  EnvList env({"SLURM_SHIM_DIR=" + own, "TMPDIR=" + m_root + "/t", "JOB_ID=7"});
  EXPECT_EQ(find(env).value().directory, tmp);
  env.set("JOB_ID", "9");
  ASSERT_FALSE(find(env));
  EXPECT_EQ(find(env).error().kind, ErrorKind::not_found);
}

TEST_F(Find, array_tasks_are_told_apart) {
  write("/t/slurm_shim", "7", R"(,"array_task_id":3)");
  EnvList env({"TMPDIR=" + m_root + "/t", "JOB_ID=7", "SGE_TASK_ID=3"});
  EXPECT_TRUE(find(env));
  env.set("SGE_TASK_ID", "4");
  EXPECT_FALSE(find(env));
  env.set("SGE_TASK_ID", "undefined");
  EXPECT_FALSE(find(env));
}

TEST_F(Find, slurms_job_id_serves_where_the_engines_is_not_set) {
  write("/t/slurm_shim", "7", R"(,"array_task_id":1)");
  EnvList env({"TMPDIR=" + m_root + "/t", "SLURM_JOB_ID=10000026"}); // 7, first element
  EXPECT_TRUE(find(env));
  env.set("SLURM_JOB_ID", "8");
  EXPECT_FALSE(find(env));
  env.unset("SLURM_JOB_ID");
  EXPECT_TRUE(find(env));
}

TEST_F(Find, broken_and_foreign_layouts_are_errors_that_name_the_file) {
  const auto directory = write("/t/slurm_shim", "7", "");
  const EnvList env({"TMPDIR=" + m_root + "/t", "JOB_ID=7"});
  const auto path = directory + "/layout.json";
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  ASSERT_FALSE(find(env));
  EXPECT_EQ(find(env).error().message, path + ": writable by others");
  ASSERT_TRUE(posix::write_file_atomic(path, "{"));
  ASSERT_FALSE(find(env));
  EXPECT_EQ(find(env).error().message, path + ": not a JSON object");
}

} // namespace
} // namespace shim::layout
