#include "slurm_shim/proto/dial.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/proto/frame.h"

#include <algorithm>
#include <cerrno>
#include <chrono>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>

namespace shim::proto {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

Error bad_address(std::string_view text) {
  return Error{ErrorKind::malformed, "bad address \"" + std::string(text) + "\"", 1};
}

// 0 or an errno value.
int wait_connected(int fd, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left <= 0ms) return ETIMEDOUT;
    pollfd ready{fd, POLLOUT, 0};
    const int count = ::poll(&ready, 1, static_cast<int>(left.count()));
    if (count < 0 && errno != EINTR) return errno;
    if (count <= 0) continue;
    int error = 0;
    socklen_t length = sizeof error;
    if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
    return error;
  }
}

Result<posix::Fd> connect_to(std::string_view text, Clock::time_point deadline) {
  TRY_ASSIGN(const auto address, parse_address(text));
  posix::Fd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return fail_errno(text, errno);
  set_channel_options(fd.get());
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.length) !=
      0) {
    if (errno != EINPROGRESS) return fail_errno(text, errno);
    if (const int error = wait_connected(fd.get(), deadline); error != 0)
      return fail_errno(text, error);
  }
  return fd;
}

Result<void> send_hello(int fd, const Envelope& envelope, const Token& token) {
  std::string frame;
  append_frame(frame, FrameType::hello, 0, 0, encode_hello(token.reveal(), envelope.host));
  // A fresh socket's buffer takes these few hundred bytes at once.
  const auto sent = ::send(fd, frame.data(), frame.size(), MSG_NOSIGNAL);
  if (sent < 0) return fail_errno("sending HELLO", errno);
  if (static_cast<std::size_t>(sent) != frame.size())
    return fail(ErrorKind::io, "sending HELLO: connection took only a part");
  return {};
}

} // namespace

Result<SocketAddress> parse_address(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return tl::unexpected<Error>(bad_address(text));
  const auto port = parse_int<std::uint16_t>(text.substr(colon + 1));
  if (!port || *port == 0) return tl::unexpected<Error>(bad_address(text));
  auto host = text.substr(0, colon);
  SocketAddress out;
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&out.storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(*port);
    out.length = sizeof *v6;
    if (::inet_pton(
            AF_INET6, std::string(host.substr(1, host.size() - 2)).c_str(), &v6->sin6_addr) != 1)
      return tl::unexpected<Error>(bad_address(text));
    return out;
  }
  auto* v4 = reinterpret_cast<sockaddr_in*>(&out.storage);
  v4->sin_family = AF_INET;
  v4->sin_port = htons(*port);
  out.length = sizeof *v4;
  if (::inet_pton(AF_INET, std::string(host).c_str(), &v4->sin_addr) != 1)
    return tl::unexpected<Error>(bad_address(text));
  return out;
}

void set_channel_options(int fd) {
  const auto set = [fd](int level, int name, int value) {
    // Fails on sockets that are no TCP sockets (tests): the channel works without, too.
    static_cast<void>(::setsockopt(fd, level, name, &value, sizeof value));
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 15);
  set(IPPROTO_TCP, TCP_KEEPCNT, 9);
}

Result<posix::Fd>
dial(const Envelope& envelope, const Token& token, std::chrono::milliseconds limit) {
  const auto end = Clock::now() + limit;
  std::vector<std::string_view> addresses{envelope.dial};
  addresses.insert(addresses.end(), envelope.dial_alt.begin(), envelope.dial_alt.end());
  std::string failures;
  for (const auto address : addresses) {
    const auto deadline = addresses.size() == 1 ? end : std::min(end, Clock::now() + 3s);
    auto fd = connect_to(address, deadline);
    if (fd) {
      TRY(send_hello(fd->get(), envelope, token));
      return fd;
    }
    failures += (failures.empty() ? "" : "; ") + fd.error().message;
  }
  return fail(ErrorKind::unavailable, "cannot reach srun at " + failures);
}

} // namespace shim::proto
