#include "step_fixture.h"

#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/process_tree.h"
#include "slurm_shim/posix/spawn.h"
#include "slurm_shim/stepper/stepper.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace shim::stepper::test {

namespace {

using Clock = std::chrono::steady_clock;

struct Listener {
  posix::Fd fd;
  int port = 0;
};

Listener listen_on_loopback() {
  Listener listener{posix::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), 0};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(listener.fd.get(), generic, length), 0);
  EXPECT_EQ(::listen(listener.fd.get(), 4), 0);
  EXPECT_EQ(::getsockname(listener.fd.get(), generic, &length), 0);
  listener.port = ntohs(address.sin_port);
  return listener;
}

bool readable(int fd, Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  pollfd ready{fd, POLLIN, 0};
  return left.count() > 0 && ::poll(&ready, 1, static_cast<int>(left.count())) > 0;
}

[[noreturn]] void be_stepper(const std::string& envelope) {
  ::setenv("SLURM_SHIM_TOKEN", k_test_token, 1); // NOLINT(concurrency-mt-unsafe)
  std::string option = "--envelope";
  std::string value = envelope;
  char* args[] = {option.data(), value.data()};
  ::_exit(stepper_main(args));
}

} // namespace

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  while (!condition()) {
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

proto::StepSpec shell_spec(const std::string& script, int count) {
  proto::StepSpec spec;
  spec.env = {"PATH=/bin:/usr/bin"};
  spec.command = {"sh", "-c", script};
  for (int i = 0; i < count; ++i) {
    proto::RankSpec rank;
    rank.rank = i;
    rank.local = i;
    rank.env_delta = {"SLURM_PROCID=" + std::to_string(i)};
    spec.ranks.push_back(rank);
  }
  return spec;
}

Step::Step() : m_mark("SHIM_TEST_MARK=" + posix::random_hex(8)) {
  const auto listener = listen_on_loopback();
  proto::Envelope envelope;
  envelope.job_id = 4711;
  envelope.host = "node001";
  envelope.dial = "127.0.0.1:" + std::to_string(listener.port);
  m_front = posix::fork_process().value();
  if (m_front == 0) be_stepper(proto::encode_envelope(envelope));
  if (!readable(listener.fd.get(), Clock::now() + 20s)) return;
  m_socket.reset(::accept4(listener.fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
  read_until([this] { return saw(proto::FrameType::hello); });
}

Step::~Step() {
  m_socket.reset();
  if (!m_reaped) {
    ::kill(m_front, SIGKILL);
    ::waitpid(m_front, nullptr, 0);
  }
  for (const auto pid : rank_processes())
    ::kill(pid, SIGKILL);
}

void Step::send_spec(proto::StepSpec spec, std::size_t piece) {
  spec.env.push_back(m_mark);
  const auto json = proto::StepSpecEncoder(spec).with_ranks(spec.ranks);
  for (std::size_t at = 0; at < json.size(); at += piece) {
    const bool more = at + piece < json.size();
    send(proto::FrameType::spec,
         std::string_view(json).substr(at, piece),
         more ? proto::k_spec_more : std::uint8_t{0});
  }
}

void Step::send(proto::FrameType type,
                std::string_view payload,
                std::uint8_t flags,
                std::uint32_t rank) {
  std::string frame;
  proto::append_frame(frame, type, flags, rank, payload);
  std::string_view rest = frame;
  while (!rest.empty()) {
    const auto sent = ::send(m_socket.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
}

bool Step::read_until(const std::function<bool()>& condition, std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  std::vector<char> buffer(1 << 20);
  while (!condition()) {
    if (m_ended || !readable(m_socket.get(), deadline)) return false;
    const auto got = ::recv(m_socket.get(), buffer.data(), buffer.size(), 0);
    if (got <= 0) m_ended = true;
    if (got > 0) m_bytes.append(buffer.data(), static_cast<std::size_t>(got));
    std::size_t at = 0;
    std::size_t used = 0;
    for (;;) {
      const auto frame = proto::parse_frame(std::string_view(m_bytes).substr(at), used);
      if (!frame || !*frame) break;
      on_frame(**frame);
      at += used;
    }
    m_bytes.erase(0, at);
  }
  return true;
}

void Step::on_frame(const proto::FrameView& frame) {
  const auto type = static_cast<proto::FrameType>(frame.header.type);
  ++m_types[type];
  auto& rank = m_ranks[static_cast<int>(frame.header.rank)];
  switch (type) {
  case proto::FrameType::hello: m_hello = frame.payload; break;
  case proto::FrameType::in_ack:
    m_credit += static_cast<std::size_t>(proto::decode_i32(frame.payload).value_or(0));
    break;
  case proto::FrameType::rank_exit: rank.exit = proto::decode_rank_exit(frame.payload); break;
  case proto::FrameType::rank_fail: rank.fail = proto::decode_rank_fail(frame.payload); break;
  case proto::FrameType::out: {
    std::string text(frame.payload);
    if ((frame.header.flags & proto::k_out_eol) != 0) text += '\n';
    rank.output_after_end = rank.output_after_end || rank.exit || rank.fail;
    ((frame.header.flags & proto::k_out_stderr) != 0 ? rank.err : rank.out) += text;
    rank.chunks.push_back(std::move(text));
    break;
  }
  default: break;
  }
}

int Step::wait_stepper(std::chrono::milliseconds limit) {
  if (!m_reaped)
    m_reaped =
        eventually([this] { return ::waitpid(m_front, &m_status, WNOHANG) == m_front; }, limit);
  return m_reaped ? m_status : -1;
}

int Step::run(proto::StepSpec spec) {
  send_spec(std::move(spec));
  EXPECT_TRUE(read_to_end());
  const int status = wait_stepper();
  return status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

pid_t Step::guardian() const {
  const auto children = posix::children_of(m_front);
  return children.empty() ? -1 : children[0];
}

std::vector<pid_t> Step::rank_processes() const {
  std::vector<pid_t> out;
  DIR* directory = ::opendir("/proc");
  while (const auto* entry = ::readdir(directory)) {
    const auto environment = posix::read_file(std::string("/proc/") + entry->d_name + "/environ");
    if (environment && environment->find(m_mark) != std::string::npos)
      out.push_back(static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10)));
  }
  ::closedir(directory);
  return out;
}

} // namespace shim::stepper::test
