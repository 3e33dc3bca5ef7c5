#include "slurm_shim/proto/dial.h"
#include "slurm_shim/proto/listener.h"

#include <boost/asio/steady_timer.hpp>
#include <gtest/gtest.h>

#include <map>

#include <arpa/inet.h>
#include <sys/socket.h>

namespace shim::proto {
namespace {

using namespace std::chrono_literals;

TEST(Token, is_random_hex_and_compares_whole) {
  const auto token = Token::generate();
  EXPECT_EQ(token.reveal().size(), 64U);
  EXPECT_EQ(token.reveal().find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(token.reveal(), Token::generate().reveal());
  EXPECT_TRUE(token.matches(token.reveal()));
  EXPECT_FALSE(token.matches(""));
  EXPECT_FALSE(token.matches(token.reveal().substr(0, 63)));
  EXPECT_FALSE(token.matches(token.reveal() + "0"));
  EXPECT_FALSE(Token("").matches(""));
}

TEST(Dial, addresses_are_numbers) {
  for (const auto* bad : {"",
                          "localhost:1",
                          "127.0.0.1",
                          "127.0.0.1:0",
                          "127.0.0.1:65536",
                          "::1:5x",
                          "[::1:5",
                          "1.2.3:4",
                          "127.0.0.1:"})
    EXPECT_FALSE(parse_address(bad)) << bad;
  EXPECT_TRUE(parse_address("127.0.0.1:61000"));
  EXPECT_TRUE(parse_address("[::1]:61000"));
}

TEST(Dial, gives_up_in_time_where_packets_vanish) {
  // A socket whose queue is full drops what else comes, as a firewall may.
  const posix::Fd full(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(::bind(full.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(::listen(full.get(), 0), 0);
  ASSERT_EQ(::getsockname(full.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
  Envelope envelope;
  envelope.dial = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  envelope.host = "node1";
  std::vector<posix::Fd> waiting;
  for (int i = 0; i < 8; ++i) {
    auto fd = dial(envelope, Token::generate(), 300ms);
    if (!fd) {
      EXPECT_EQ(fd.error().message,
                "cannot reach srun at " + envelope.dial + ": Connection timed out");
      return;
    }
    waiting.push_back(std::move(*fd));
  }
  FAIL() << "a queue of " << waiting.size() << " connections";
}

// A listener on a loop, with what happened written down.
class Door : public ::testing::Test {
protected:
  void SetUp() override {
    auto bound = bind_listener({});
    ASSERT_TRUE(bound);
    m_port = bound->port;
    Listener::Events events;
    events.admit = [this](const std::string& host) {
      if (host.rfind("node", 0) != 0) return Admission::unknown_host;
      return m_hosts.count(host) != 0 ? Admission::duplicate : Admission::ok;
    };
    events.on_host = [this](const std::string& host, std::shared_ptr<Channel> channel) {
      m_hosts[host] = channel;
      Channel::Events quiet;
      quiet.on_frame = [this](const FrameView& frame) -> Result<void> {
        m_frames.emplace_back(frame.payload);
        return {};
      };
      quiet.on_closed = [this](const std::string& why) { m_closed.push_back(why); };
      channel->hand_over(quiet);
    };
    events.on_version = [this](const std::string& host, const std::string&) {
      m_versions.push_back(host);
    };
    events.on_rejected = [this](const std::string& why) { m_rejected.push_back(why); };
    m_listener.emplace(m_loop, std::move(bound->fd), m_token, std::span<char>(m_buffer), events);
    m_listener->start();
  }

  posix::Fd raw() {
    posix::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto address = parse_address("127.0.0.1:" + std::to_string(m_port));
    EXPECT_EQ(
        ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address->storage), address->length),
        0);
    return fd;
  }
  posix::Fd say(std::string_view bytes) {
    auto fd = raw();
    EXPECT_EQ(posix::write_all(fd.get(), bytes), 0);
    return fd;
  }
  posix::Fd hello(const std::string& token, const std::string& host) {
    std::string frame;
    append_frame(frame, FrameType::hello, 0, 0, encode_hello(token, host));
    return say(frame);
  }
  // Runs the loop until the condition holds, at most 20 s.
  template <class Condition> bool until(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (!condition() && std::chrono::steady_clock::now() < end) {
      m_loop.restart();
      m_loop.run_one_for(100ms);
    }
    return condition();
  }

  boost::asio::io_context m_loop{1};
  Token m_token = Token::generate();
  std::vector<char> m_buffer = std::vector<char>(k_receive_buffer);
  int m_port = 0;
  std::map<std::string, std::shared_ptr<Channel>> m_hosts;
  std::vector<std::string> m_frames, m_closed, m_versions, m_rejected;
  std::optional<Listener> m_listener;
};

TEST_F(Door, lets_a_stepper_in_and_talks_both_ways) {
  Envelope envelope;
  envelope.host = "node1";
  envelope.dial = "127.0.0.1:" + std::to_string(m_port);
  const auto fd = dial(envelope, m_token);
  ASSERT_TRUE(fd) << fd.error().message;
  ASSERT_TRUE(until([&] { return m_hosts.size() == 1; }));
  std::string frame;
  append_frame(frame, FrameType::out, 0, 3, "hi");
  ASSERT_EQ(posix::write_all(fd->get(), frame), 0);
  ASSERT_TRUE(until([&] { return m_frames.size() == 1; }));
  EXPECT_EQ(m_frames[0], "hi");
  m_hosts["node1"]->send(FrameType::sig, 0, 0, encode_i32(15));
  char answer[32];
  EXPECT_EQ(::recv(fd->get(), answer, sizeof answer, 0), 14);
  EXPECT_TRUE(m_rejected.empty());
}

TEST_F(Door, turns_strangers_away_and_goes_on) {
  std::vector<posix::Fd> keep;
  keep.push_back(hello("wrong", "node1"));
  keep.push_back(hello(m_token.reveal(), "stranger"));
  keep.push_back(say(std::string("\x04\0\0\0\0\0\0\0\0\1x", 11)));  // OUT first
  keep.push_back(say(std::string("\x01\0\0\0\0\0\0\0\2\1", 10)));   // HELLO of 513 bytes
  keep.push_back(say(std::string("\x01\0\0\0\0\0\0\0\0\2ab", 12))); // HELLO without NUL
  say("GET / HTTP/1.1\r\n\r\n");                                    // and gone
  ASSERT_TRUE(until([&] { return m_rejected.size() == 6; }));
  EXPECT_TRUE(m_hosts.empty());
  for (const auto& why : m_rejected)
    EXPECT_EQ(why.find(m_token.reveal()), std::string::npos);
  keep.push_back(hello(m_token.reveal(), "node1"));
  EXPECT_TRUE(until([&] { return m_hosts.size() == 1; }));
}

TEST_F(Door, first_hello_of_a_host_wins) {
  const auto first = hello(m_token.reveal(), "node1");
  ASSERT_TRUE(until([&] { return m_hosts.size() == 1; }));
  const auto second = hello(m_token.reveal(), "node1");
  ASSERT_TRUE(until([&] { return m_rejected.size() == 1; }));
  EXPECT_EQ(m_rejected[0], "second stepper of host node1");
  EXPECT_TRUE(m_hosts["node1"]->is_open());
}

TEST_F(Door, names_the_host_of_another_version) {
  std::string frame;
  append_frame(frame, FrameType::hello, 0, 0, m_token.reveal() + std::string("\0node7\0v=9", 10));
  const auto fd = say(frame);
  ASSERT_TRUE(until([&] { return m_versions.size() == 1; }));
  EXPECT_EQ(m_versions[0], "node7");
  EXPECT_TRUE(m_hosts.empty());
}

TEST_F(Door, silent_connections_do_not_keep_a_stepper_out) {
  std::vector<posix::Fd> silent;
  for (std::size_t i = 0; i < 2 * k_max_unauthenticated; ++i)
    silent.push_back(raw());
  silent.push_back(say(std::string("\x01\0\0\0", 4))); // half a HELLO
  const auto begin = std::chrono::steady_clock::now();
  const auto fd = hello(m_token.reveal(), "node1");
  EXPECT_TRUE(until([&] { return m_hosts.size() == 1; }));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 9s);
}

TEST_F(Door, a_spec_above_a_frame_comes_in_pieces) {
  auto fd = hello(m_token.reveal(), "node1");
  ASSERT_TRUE(until([&] { return m_hosts.size() == 1; }));
  const auto head = std::make_shared<const std::string>(k_max_payload + 5, 'h');
  const std::string tail(k_max_payload, 't');
  m_hosts["node1"]->send_spec(head, tail);
  ASSERT_TRUE(posix::set_nonblocking(fd.get()));
  std::string wire;
  const auto want = head->size() + tail.size() + 3 * k_header_bytes;
  ASSERT_TRUE(until([&] {
    char buffer[65536];
    for (ssize_t got = 0; (got = ::recv(fd.get(), buffer, sizeof buffer, 0)) > 0;)
      wire.append(buffer, static_cast<std::size_t>(got));
    return wire.size() >= want;
  }));
  std::string together;
  std::vector<int> flags;
  std::string_view rest = wire;
  while (!rest.empty()) {
    std::size_t used = 0;
    const auto frame = parse_frame(rest, used);
    ASSERT_TRUE(frame && *frame);
    together += (*frame)->payload;
    flags.push_back((*frame)->header.flags);
    rest.remove_prefix(used);
  }
  EXPECT_EQ(together, *head + tail);
  EXPECT_EQ(flags, (std::vector<int>{k_spec_more, k_spec_more, 0}));
}

TEST(Bind, walks_the_range_and_says_when_it_is_full) {
  const auto any = bind_listener({});
  ASSERT_TRUE(any);
  const auto taken = bind_listener({false, any->port, any->port, 5});
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().message,
            "no free control port in " + std::to_string(any->port) + "-" +
                std::to_string(any->port));
}

} // namespace
} // namespace shim::proto
