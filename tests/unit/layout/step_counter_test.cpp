#include "slurm_shim/base/strings.h"
#include "slurm_shim/layout/layout.h"
#include "slurm_shim/posix/fd.h"
#include "slurm_shim/posix/files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace shim::layout {
namespace {

class StepCounter : public testing::Test {
protected:
  void SetUp() override {
    m_root = testing::TempDir() + "ctr_" + posix::random_hex(4);
    ASSERT_TRUE(posix::make_directories(m_root));
  }
  void TearDown() override { std::filesystem::remove_all(m_root); }
  void store(const std::string& text) const {
    ASSERT_TRUE(posix::write_file_atomic(m_root + "/stepctr", text));
  }
  [[nodiscard]] std::string text() const { return posix::read_file(m_root + "/stepctr").value(); }
  std::string m_root;
};

void expect_dense(std::vector<int> ids, int count) {
  std::sort(ids.begin(), ids.end());
  ASSERT_EQ(ids.size(), static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    EXPECT_EQ(ids[static_cast<std::size_t>(i)], i);
}

TEST_F(StepCounter, counts_from_zero) {
  EXPECT_EQ(next_step_id(m_root).value(), 0);
  EXPECT_EQ(next_step_id(m_root).value(), 1);
  EXPECT_EQ(text(), "1\n");
}

TEST_F(StepCounter, goes_on_from_what_the_file_says) {
  struct Row {
    const char* text;
    int want;
    const char* after;
  };
  const Row rows[] = {{"-1\n", 0, "0\n"}, {"", 0, "0\n"}, {"9", 10, "10\n"}, {"41\n", 42, "42\n"}};
  for (const auto& row : rows) {
    store(row.text);
    EXPECT_EQ(next_step_id(m_root).value(), row.want);
    EXPECT_EQ(text(), row.after);
  }
}

TEST_F(StepCounter, a_file_without_a_number_is_refused_and_left_alone) {
  for (const std::string bad : {"x\n", "-2\n", "1 2\n", "2147483647\n", "99999999999\n"}) {
    store(bad);
    const auto id = next_step_id(m_root);
    ASSERT_FALSE(id) << bad;
    EXPECT_EQ(id.error().message, m_root + "/stepctr: corrupt step counter");
    EXPECT_EQ(text(), bad);
  }
}

TEST_F(StepCounter, is_dense_under_32_threads) {
  std::mutex mutex;
  std::vector<int> ids;
  std::vector<std::thread> threads;
  for (int t = 0; t < 32; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        const auto id = next_step_id(m_root);
        const std::scoped_lock lock(mutex);
        ids.push_back(id.value_or(-1));
      }
    });
  for (auto& thread : threads)
    thread.join();
  expect_dense(std::move(ids), 32 * 20);
}

TEST_F(StepCounter, is_dense_under_16_processes) {
  auto pipe = posix::make_pipe().value();
  std::vector<pid_t> children;
  for (int p = 0; p < 16; ++p) {
    const auto pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      for (int i = 0; i < 20; ++i) {
        const auto line = std::to_string(next_step_id(m_root).value_or(-1)) + "\n";
        if (posix::write_all(pipe.write.get(), line) != 0) ::_exit(1);
      }
      ::_exit(0);
    }
    children.push_back(pid);
  }
  pipe.write.reset();
  const auto all = posix::read_fd(pipe.read.get()).value();
  for (const auto pid : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  std::vector<int> ids;
  for (const auto word : split(all, '\n'))
    if (!word.empty()) ids.push_back(parse_int<int>(word).value_or(-1));
  expect_dense(std::move(ids), 16 * 20);
}

} // namespace
} // namespace shim::layout
