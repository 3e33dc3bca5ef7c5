#include "slurm_shim/ge/cell.h"
#include "slurm_shim/ge/date_time.h"
#include "slurm_shim/ge/tools.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace shim::ge {
namespace {

namespace fs = std::filesystem;

class ToolsTest : public testing::Test {
protected:
  void SetUp() override {
    m_root = fs::temp_directory_path() / ("ge_tools_" + std::to_string(::getpid()));
    for (const auto* folder : {"bin", "binpath", "root/bin/lx-test", "path"})
      fs::create_directories(m_root / folder);
  }
  void TearDown() override { fs::remove_all(m_root); }

  std::string tool(const std::string& folder, const std::string& text = "#!/bin/sh\n") {
    const auto path = m_root / folder / "qstat";
    std::ofstream(path) << text;
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }
  EnvList env() const {
    EnvList list;
    list.set("SGE_BINARY_PATH", (m_root / "binpath").string());
    list.set("SGE_ROOT", (m_root / "root").string());
    list.set("SGE_ARCH", "lx-test");
    list.set("PATH", "/nonexistent::" + (m_root / "path").string());
    return list;
  }
  fs::path m_root;
};

TEST_F(ToolsTest, looks_in_the_decided_order) {
  auto list = env();
  const auto none = locate_tool(list, "qstat");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::unavailable);
  EXPECT_NE(none.error().message.find("qstat: not found in "), std::string::npos);
  for (const auto* folder : {"path", "root/bin/lx-test", "binpath"}) {
    const auto path = tool(folder);
    EXPECT_EQ(locate_tool(list, "qstat").value(), path);
  }
  list.set("SLURM_SHIM_GE_BIN", (m_root / "bin").string());
  EXPECT_FALSE(locate_tool(list, "qstat")) << "the given folder is the only one";
  const auto path = tool("bin");
  EXPECT_EQ(locate_tool(list, "qstat").value(), path);
}

TEST_F(ToolsTest, skips_what_cannot_be_executed_and_links_to_ourselves) {
  fs::create_directories(m_root / "binpath" / "qstat");
  fs::create_symlink(fs::read_symlink("/proc/self/exe"), m_root / "root/bin/lx-test/qstat");
  const auto path = tool("path");
  EXPECT_EQ(locate_tool(env(), "qstat").value(), path);
}

TEST_F(ToolsTest, runs_with_the_settings_of_parsed_calls) {
  tool("binpath",
       "#!/bin/sh\necho \"$LC_ALL $SGE_SINGLE_LINE ${SGE_DEBUG_LEVEL-unset} $X $*\"\n"
       "cat; exit 3\n");
  auto list = env();
  list.set("PATH", "/usr/bin:/bin");
  list.set("SGE_DEBUG_LEVEL", "2");
  posix::ProcessRunner runner;
  const Tools tools(runner, list, std::chrono::seconds(20));
  const auto output =
      tools.run({.tool = "qstat", .args = {"-u", "*"}, .input = "fed\n", .extra_env = {"X=y"}});
  ASSERT_TRUE(output);
  EXPECT_EQ(output->status, 3);
  EXPECT_EQ(output->out, "C 1 unset y -u *\nfed\n");
}

TEST_F(ToolsTest, a_silent_tool_is_unavailable) {
  tool("binpath", "#!/bin/sh\nexec sleep 60\n");
  auto list = env();
  list.set("PATH", "/usr/bin:/bin");
  posix::ProcessRunner runner;
  const Tools tools(runner, list, std::chrono::milliseconds(100));
  const auto output = tools.run({.tool = "qstat"});
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().kind, ErrorKind::unavailable);
}

TEST(DateTimeArgument, is_local_time_to_the_second) {
  ::setenv("TZ", "UTC-1", 1);
  ::tzset();
  EXPECT_EQ(date_time_argument(1795999349), "202611300142.29");
  ::unsetenv("TZ");
  ::tzset();
}

TEST_F(ToolsTest, names_the_cluster_by_variable_file_or_cell) {
  EnvList list;
  EXPECT_EQ(cluster_name(list), "default");
  list.set("SGE_CELL", "");
  EXPECT_EQ(cluster_name(list), "default");
  list.set("SGE_CELL", "c1");
  list.set("SGE_ROOT", (m_root / "root").string());
  EXPECT_EQ(cluster_name(list), "c1") << "without the file";
  fs::create_directories(m_root / "root/c1/common");
  std::ofstream(m_root / "root/c1/common/cluster_name") << "\n";
  EXPECT_EQ(cluster_name(list), "c1") << "an empty file";
  std::ofstream(m_root / "root/c1/common/cluster_name") << "p6444\n";
  EXPECT_EQ(cluster_name(list), "p6444");
  list.set("SGE_CLUSTER_NAME", "other");
  EXPECT_EQ(cluster_name(list), "other");
}

} // namespace
} // namespace shim::ge
