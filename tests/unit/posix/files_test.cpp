#include "slurm_shim/posix/files.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shim::posix {
namespace {

class Files : public ::testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/shim-files-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    m_dir = name;
  }
  void TearDown() override {
    const std::string command = "rm -rf '" + m_dir + "'";
    ASSERT_EQ(std::system(command.c_str()), 0); // NOLINT: a folder this test made
  }
  [[nodiscard]] std::string path(const std::string& name) const { return m_dir + "/" + name; }
  std::string m_dir;
};

TEST_F(Files, AtomicWriteLeavesOnlyTheTargetWithItsMode) {
  const auto before = ::umask(0777);
  const auto written = write_file_atomic(path("f"), "text", 0640);
  ::umask(before);
  ASSERT_TRUE(written);
  EXPECT_EQ(read_file(path("f")).value(), "text");
  struct stat info {};
  ASSERT_EQ(::stat(path("f").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0640U);
  EXPECT_FALSE(exists(path(".f." + std::to_string(::getpid()))));
}

TEST_F(Files, AtomicWriteNamesTheFolderThatIsMissing) {
  const auto written = write_file_atomic(path("no/f"), "text");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::not_found);
  EXPECT_NE(written.error().message.find(path("no")), std::string::npos);
}

TEST_F(Files, ReadIsBounded) {
  ASSERT_TRUE(write_file_atomic(path("f"), std::string(1000, 'x')));
  EXPECT_EQ(read_file(path("f"), 1000).value().size(), 1000U);
  const auto bounded = read_file(path("f"), 999);
  ASSERT_FALSE(bounded);
  EXPECT_EQ(bounded.error().kind, ErrorKind::malformed);
  EXPECT_EQ(read_file(path("missing")).error().kind, ErrorKind::not_found);
}

TEST_F(Files, TrustEndsAtLinksAndOthersWriteBits) {
  ASSERT_TRUE(write_file_atomic(path("good"), "x", 0600));
  EXPECT_TRUE(read_trusted(path("good")));
  ASSERT_TRUE(write_file_atomic(path("open"), "x", 0620));
  EXPECT_EQ(read_trusted(path("open")).error().kind, ErrorKind::refused);
  ASSERT_EQ(::symlink("good", path("link").c_str()), 0);
  EXPECT_FALSE(read_trusted(path("link")));
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(read_trusted(path("fifo")).error().kind, ErrorKind::refused);
  EXPECT_EQ(read_trusted(path("missing")).error().kind, ErrorKind::not_found);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(path("good").c_str(), 12345, 0), 0);
    EXPECT_EQ(read_trusted(path("good")).error().kind, ErrorKind::refused);
  }
}

TEST_F(Files, MakeDirectoriesIsIdempotentAndNamesTheObstacle) {
  EXPECT_TRUE(make_directories(path("a/b/c")));
  EXPECT_TRUE(make_directories(path("a/b/c")));
  ASSERT_TRUE(write_file_atomic(path("file"), ""));
  const auto blocked = make_directories(path("file/x"));
  ASSERT_FALSE(blocked);
  EXPECT_NE(blocked.error().message.find("Not a directory"), std::string::npos);
}

TEST_F(Files, AppendLineCreatesAndAppends) {
  ASSERT_TRUE(append_line(path("log"), "one\n"));
  ASSERT_TRUE(append_line(path("log"), "two\n"));
  EXPECT_EQ(read_file(path("log")).value(), "one\ntwo\n");
}

TEST(Paths, AreTextual) {
  EXPECT_EQ(absolute("x", "/a"), "/a/x");
  EXPECT_EQ(absolute("x", "/"), "/x");
  EXPECT_EQ(absolute("/x", "/a"), "/x");
  EXPECT_EQ(base_name("/a/b"), "b");
  EXPECT_EQ(base_name("b"), "b");
  EXPECT_EQ(dir_name("/a/b"), "/a");
  EXPECT_EQ(dir_name("/b"), "/");
  EXPECT_EQ(dir_name("b"), ".");
}

TEST(RandomHex, HasTheLengthAndDiffers) {
  const auto a = random_hex(32);
  EXPECT_EQ(a.size(), 64U);
  EXPECT_EQ(a.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(a, random_hex(32));
}

} // namespace
} // namespace shim::posix
