#include "input_feed.h"
#include "input_log.h"

#include "slurm_shim/proto/frame.h"

#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

namespace shim::stepper {
namespace {

using namespace std::chrono_literals;

TEST(InputLog, gives_back_what_was_appended_until_it_is_released) {
  InputLog log("/tmp", 1000);
  log.append("abc");
  log.append("defg");
  EXPECT_EQ(log.at(0), "abc");
  EXPECT_EQ(log.at(4), "efg");
  EXPECT_EQ(log.at(7), "");
  log.release(4);
  EXPECT_EQ(log.memory_begin(), 4U);
  EXPECT_EQ(log.in_memory(), 3U);
  EXPECT_EQ(log.at(4), "efg");
  log.release(7);
  log.skip_to(20);
  log.append("x");
  EXPECT_EQ(log.at(20), "x");
  EXPECT_EQ(log.end(), 21U);
}

TEST(InputLog, bytes_put_aside_are_read_back_and_the_file_has_no_name) {
  const test::TempDir folder;
  InputLog log(folder.path(), 1000);
  log.append("0123456789");
  log.append("abcdef");
  log.release(2);
  ASSERT_TRUE(log.put_aside(13));
  EXPECT_TRUE(log.has_aside());
  EXPECT_EQ(log.in_memory(), 3U);
  EXPECT_EQ(log.at(2), "23456789abc");
  EXPECT_EQ(log.at(13), "def");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  log.append("gh");
  ASSERT_TRUE(log.put_aside(18));
  EXPECT_EQ(log.at(10), "abcdefgh");
  log.release(18);
  EXPECT_FALSE(log.has_aside());
  log.append("new");
  ASSERT_TRUE(log.put_aside(20));
  EXPECT_EQ(log.at(18), "ne");
}

TEST(InputLog, what_there_is_no_room_for_stays_in_memory) {
  InputLog small("/tmp", 5);
  InputLog nowhere("/nonexistent/folder", 1000);
  for (auto* log : {&small, &nowhere}) {
    log->append("0123456789");
    EXPECT_FALSE(log->put_aside(10));
    std::string all;
    while (all.size() < 10)
      all += log->at(all.size());
    EXPECT_EQ(all, "0123456789");
  }
  EXPECT_EQ(small.in_memory(), 5U);
  EXPECT_EQ(nowhere.in_memory(), 10U);
}

class Feed : public testing::Test {
protected:
  static constexpr std::uint64_t k_first = 100;

  int add_reader() {
    auto pipe = posix::make_pipe().value();
    static_cast<void>(posix::set_nonblocking(pipe.write.get()));
    static_cast<void>(posix::set_nonblocking(pipe.read.get()));
    ::fcntl(pipe.read.get(), F_SETPIPE_SZ, 4096);
    m_readers.push_back(std::move(pipe.read));
    m_feed.add(m_readers.size() - 1, std::move(pipe.write));
    return static_cast<int>(m_readers.size()) - 1;
  }
  // What epoll has, as the front hands it on.
  void turn() {
    epoll_event events[16];
    const int count = ::epoll_wait(m_epoll.get(), events, 16, 0);
    for (int i = 0; i < count; ++i)
      m_feed.on_ready(static_cast<std::size_t>(events[i].data.u64 - k_first), events[i].events);
    m_feed.on_time(InputFeed::Clock::now());
    m_credit += m_feed.take_credit();
  }
  // Reads what is there; true at the end of file.
  bool drain(int reader, std::string& into) {
    char buffer[8192];
    for (;;) {
      const auto got =
          ::read(m_readers[static_cast<std::size_t>(reader)].get(), buffer, sizeof buffer);
      if (got == 0) return true;
      if (got < 0) return false;
      into.append(buffer, static_cast<std::size_t>(got));
    }
  }
  static std::string bytes(std::size_t count) {
    std::string out;
    for (std::size_t i = 0; out.size() < count; ++i)
      out += std::to_string(i) + ",";
    out.resize(count);
    return out;
  }

  test::TempDir m_folder;
  posix::Fd m_epoll{::epoll_create1(EPOLL_CLOEXEC)};
  InputFeed m_feed{m_epoll.get(), k_first, m_folder.path()};
  std::vector<posix::Fd> m_readers;
  std::size_t m_credit = 0;
};

TEST_F(Feed, every_reader_gets_every_byte_at_its_own_pace_and_then_the_end) {
  const int quick = add_reader();
  const int slow = add_reader();
  const auto sent = bytes(proto::k_input_window);
  std::string first, second;
  for (std::size_t at = 0; at < sent.size(); at += 65536)
    m_feed.take(std::nullopt, std::string_view(sent).substr(at, 65536), false);
  m_feed.take(std::nullopt, {}, true);
  while (!drain(quick, first))
    turn();
  EXPECT_EQ(first, sent);
  while (!drain(slow, second))
    turn();
  EXPECT_EQ(second, sent);
  EXPECT_FALSE(m_feed.take_closed()); // that was the end
}

TEST_F(Feed, credit_comes_with_the_slowest_reader) {
  const int quick = add_reader();
  const int slow = add_reader();
  m_feed.take(std::nullopt, bytes(proto::k_input_window / 2), false);
  std::string first, second;
  for (int i = 0; i < 200; ++i) {
    static_cast<void>(drain(quick, first));
    turn();
  }
  EXPECT_EQ(first.size(), proto::k_input_window / 2);
  EXPECT_LT(m_credit, proto::k_input_window / 4);
  while (second.size() < first.size()) {
    static_cast<void>(drain(slow, second));
    turn();
  }
  EXPECT_GE(m_credit, proto::k_input_window / 4);
}

TEST_F(Feed, a_reader_that_has_stopped_is_left_behind_and_catches_up) {
  const int quick = add_reader();
  const int stopped = add_reader();
  const auto sent = bytes(4 * proto::k_input_window);
  std::string first, second;
  std::size_t at = 0;
  const auto begin = InputFeed::Clock::now();
  while (first.size() < sent.size()) {
    ASSERT_LT(InputFeed::Clock::now() - begin, 60s);
    // As srun does: no more than the window without credit.
    while (at < sent.size() && at - m_credit + 65536 <= proto::k_input_window) {
      m_feed.take(std::nullopt, std::string_view(sent).substr(at, 65536), false);
      at += 65536;
    }
    static_cast<void>(drain(quick, first));
    turn();
  }
  EXPECT_EQ(first, sent);
  EXPECT_LT(second.size(), sent.size());
  m_feed.take(std::nullopt, {}, true);
  while (!drain(stopped, second))
    turn();
  EXPECT_EQ(second, sent);
}

TEST_F(Feed, alone_on_its_host_a_stopped_reader_waits_until_others_do) {
  const int stopped = add_reader();
  const auto sent = bytes(proto::k_input_window);
  m_feed.take(std::nullopt, sent, false);
  EXPECT_FALSE(m_feed.next_time().has_value());
  turn();
  EXPECT_LT(m_credit, proto::k_input_window / 4);
  const auto begin = InputFeed::Clock::now();
  while (m_credit < proto::k_input_window / 2) {
    m_feed.put_aside_for_others();
    turn();
    ASSERT_LT(InputFeed::Clock::now() - begin, 60s);
  }
  EXPECT_GT(InputFeed::Clock::now() - begin, 500ms); // it might have been slow only
  std::string got;
  m_feed.take(std::nullopt, "and more", true);
  while (!drain(stopped, got))
    turn();
  EXPECT_TRUE(got == sent + "and more");
}

TEST_F(Feed, tells_once_when_the_last_reader_has_gone) {
  add_reader();
  add_reader();
  m_readers[0].reset();
  turn();
  EXPECT_FALSE(m_feed.take_closed());
  m_feed.drop_rank(1);
  EXPECT_TRUE(m_feed.take_closed());
  EXPECT_FALSE(m_feed.take_closed());
  m_feed.take(std::nullopt, bytes(proto::k_input_window), false); // was on its way
  EXPECT_EQ(m_feed.take_credit(), proto::k_input_window);
}

TEST_F(Feed, bytes_for_a_rank_that_does_not_read_are_nothing) {
  const int reader = add_reader();
  m_feed.take(7, "x", true);
  m_feed.take(0, "y", true);
  std::string got;
  EXPECT_TRUE(drain(reader, got));
  EXPECT_EQ(got, "y");
}

} // namespace
} // namespace shim::stepper
