#include "slurm_shim/posix/files.h"
#include "slurm_shim/records/env_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "support/temp_dir.h"
#include <sys/stat.h>

namespace shim::records {
namespace {

using std::chrono::milliseconds;

TEST(EnvFile, engine_and_job_names_stay_behind_unless_named) {
  const EnvList env({"HOME=/h",
                     "TMPDIR=/t",
                     "JOB_ID=1",
                     "SGE_ROOT=/r",
                     "SLURM_SHIM_CONFIG=/c",
                     "SLURM_JOB_ID=7",
                     "SLURM_EXPORT_ENV=ALL",
                     "PE_HOSTFILE=/p",
                     "PETER=1",
                     "BASH_FUNC_m%%=() {  :\n}",
                     "a.b=1"});
  const std::vector<std::string_view> job_variables{"SLURM_JOB_ID"};
  EXPECT_EQ(select_environment(env, job_variables, {"SGE_ROOT=/mine", "HOME=/other"}),
            (std::vector<std::string>{"HOME=/other",
                                      "SLURM_EXPORT_ENV=ALL",
                                      "PETER=1",
                                      "BASH_FUNC_m%%=() {  :\n}",
                                      "a.b=1",
                                      "SGE_ROOT=/mine"}));
}

TEST(EnvFile, keeps_every_byte) {
  std::string value;
  for (int i = 1; i < 256; ++i)
    value += static_cast<char>(i);
  const std::vector<std::string> entries{"A=" + value, "EMPTY=", "B==", "BASH_FUNC_x%%=() { :; }"};
  const auto bytes = encode_environment(entries);
  EXPECT_EQ(bytes.substr(0, 19), std::string("slurm-shim-env 1 4\0", 19));
  const auto back = decode_environment(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, entries);
}

TEST(EnvFile, count_zero_is_an_environment) {
  const auto back = decode_environment(encode_environment({}));
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->empty());
}

TEST(EnvFile, refuses_foreign_bytes) {
  const auto cut = encode_environment({"A=1", "B=2"});
  for (const auto& bytes : {std::string(),
                            std::string("slurm-shim-env 2 0\0", 19),
                            std::string("slurm-shim-env 1 0"),
                            std::string("slurm-shim-env 1 x\0", 19),
                            std::string("slurm-shim-env 1 1\0A\0", 21),
                            std::string("slurm-shim-env 1 1\0=A\0", 22),
                            cut.substr(0, cut.size() - 1),
                            cut.substr(0, cut.size() - 4),
                            cut + std::string("C=3\0", 4)}) {
    const auto back = decode_environment(bytes);
    ASSERT_FALSE(back) << bytes;
    EXPECT_EQ(back.error().kind, ErrorKind::malformed);
  }
}

TEST(EnvFile, a_string_that_cannot_be_executed_is_refused_by_name) {
  const std::string fits = "LONG=" + std::string(131071 - 5, 'x');
  EXPECT_TRUE(check_environment({fits}));
  const auto refused = check_environment({"A=1", fits + "x"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "environment variable LONG has 131072 bytes, at most 131071 can be passed to a "
            "program");
}

TEST(EnvFile, is_private_and_comes_back) {
  const test::TempDir dir;
  const auto path = dir / "t.env";
  ASSERT_TRUE(write_environment(path, {"A=1\n2"}));
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0600U);
  const auto back = read_environment(path);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, std::vector<std::string>{"A=1\n2"});
}

TEST(EnvFile, waits_for_a_file_that_is_late) {
  const test::TempDir dir;
  const auto path = dir / "late/t.env"; // the folder is late, too
  std::thread writer([&] {
    std::this_thread::sleep_for(milliseconds(300));
    ASSERT_TRUE(posix::make_directories(dir / "late"));
    ASSERT_TRUE(write_environment(path, {"A=1"}));
  });
  const auto back = read_environment(path);
  writer.join();
  ASSERT_TRUE(back) << back.error().message;
}

TEST(EnvFile, gives_up_when_nothing_comes) {
  const test::TempDir dir;
  const auto back = read_environment(dir / "t.env", milliseconds(50));
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().kind, ErrorKind::not_found);
}

TEST(EnvFile, a_file_others_may_write_is_foreign_at_once) {
  const test::TempDir dir;
  ASSERT_TRUE(write_environment(dir / "t.env", {"A=1"}));
  ASSERT_EQ(::chmod((dir / "t.env").c_str(), 0620), 0);
  auto back = read_environment(dir / "t.env");
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().kind, ErrorKind::refused);
  std::filesystem::create_symlink(dir / "t.env", dir / "link.env");
  back = read_environment(dir / "link.env");
  ASSERT_FALSE(back);
  EXPECT_NE(back.error().kind, ErrorKind::not_found);
}

} // namespace
} // namespace shim::records
