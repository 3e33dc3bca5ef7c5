#include "slurm_shim/proto/listener.h"

#include "slurm_shim/proto/dial.h"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <cerrno>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace shim::proto {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto k_hello_deadline = 10s;
// With all places taken, a guest that has been silent this long makes room for a new one: a real
// stepper says HELLO with its first packet.
constexpr auto k_patience = 1s;
constexpr auto k_room_retry = 100ms;

// 0 or errno; on success `port` tells the number.
int try_bind(int fd, const BindRequest& request, int& port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(request.any_address ? INADDR_ANY : INADDR_LOOPBACK);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return errno;
  // listen() can find the port taken, too: SO_REUSEADDR lets two sockets be bound.
  if (::listen(fd, SOMAXCONN) != 0) return errno;
  socklen_t length = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return errno;
  port = ntohs(address.sin_port);
  return 0;
}

Result<posix::Fd> make_socket() {
  posix::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return fail_errno("control socket", errno);
  const int on = 1;
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0)
    return fail_errno("control socket", errno);
  return fd;
}

} // namespace

Result<BoundSocket> bind_listener(const BindRequest& request) {
  const int count = request.last_port - request.first_port + 1;
  for (int i = 0; i < count; ++i) {
    TRY_ASSIGN(auto fd, make_socket());
    int port = request.first_port == 0
                   ? 0
                   : request.first_port +
                         static_cast<int>((request.start + static_cast<std::uint32_t>(i)) %
                                          static_cast<std::uint32_t>(count));
    const int error = try_bind(fd.get(), request, port);
    if (error == 0) return BoundSocket{std::move(fd), port};
    if (error != EADDRINUSE && error != EACCES) return fail_errno("control port", error);
  }
  return fail(ErrorKind::unavailable,
              "no free control port in " + std::to_string(request.first_port) + "-" +
                  std::to_string(request.last_port));
}

struct Listener::Guest {
  Guest(asio::io_context& loop, std::shared_ptr<Channel> c)
      : channel(std::move(c)), deadline(loop), since(Channel::Clock::now()) {}
  std::shared_ptr<Channel> channel;
  asio::steady_timer deadline;
  Channel::Clock::time_point since;
  std::string host; // set by a HELLO that was accepted
};

Listener::Listener(asio::io_context& loop,
                   posix::Fd socket,
                   const Token& token,
                   std::span<char> receive_buffer,
                   Events events)
    : m_loop(loop), m_socket(loop, socket.release()), m_retry(loop), m_token(token),
      m_buffer(receive_buffer), m_events(std::move(events)) {}

void Listener::start() {
  wait_acceptable();
}

void Listener::wait_acceptable() {
  if (!m_open) return;
  m_socket.async_wait(asio::posix::descriptor_base::wait_read,
                      [this](const boost::system::error_code& error) {
                        // Cancelled: this object may be gone.
                        if (error == asio::error::operation_aborted) return;
                        accept_all();
                      });
}

bool Listener::make_room() {
  if (m_guests.size() < k_max_unauthenticated) return true;
  const auto oldest = m_guests.front();
  if (Channel::Clock::now() - oldest->since < k_patience) return false;
  reject(oldest, "too many silent connections");
  return true;
}

void Listener::accept_all() {
  while (m_open) {
    if (!make_room()) return accept_later();
    posix::Fd socket(
        ::accept4(m_socket.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN) break;
      return accept_later(); // out of descriptors or memory
    }
    receive(std::move(socket));
  }
  wait_acceptable();
}

void Listener::accept_later() {
  m_retry.expires_after(k_room_retry);
  m_retry.async_wait([this](const boost::system::error_code& error) {
    if (!error) accept_all();
  });
}

void Listener::receive(posix::Fd socket) {
  set_channel_options(socket.get());
  const auto guest =
      std::make_shared<Guest>(m_loop, Channel::create(m_loop, std::move(socket), m_buffer));
  m_guests.push_back(guest);
  guest->deadline.expires_after(k_hello_deadline);
  guest->deadline.async_wait([this, guest](const boost::system::error_code& error) {
    if (!error) reject(guest, "no HELLO within 10 s");
  });
  Channel::Events events;
  events.on_frame = [this, weak = std::weak_ptr(guest)](const FrameView& frame) -> Result<void> {
    const auto self = weak.lock();
    return self ? on_hello(self, frame) : Result<void>{};
  };
  events.on_closed = [this, weak = std::weak_ptr(guest)](const std::string& reason) {
    if (const auto self = weak.lock())
      reject(self, reason.empty() ? "connection ended before its HELLO" : reason);
  };
  guest->channel->start(std::move(events), k_max_hello);
}

Result<void> Listener::on_hello(const std::shared_ptr<Guest>& guest, const FrameView& frame) {
  if (!guest->host.empty()) return fail(ErrorKind::malformed, "a frame before the step started");
  if (frame.header.type != static_cast<std::uint8_t>(FrameType::hello))
    return fail(ErrorKind::malformed, "first frame is no HELLO");
  const auto hello = parse_hello(frame.payload);
  if (!hello) return fail(ErrorKind::malformed, "malformed HELLO");
  if (!m_token.matches(hello->token)) return fail(ErrorKind::refused, "wrong token");
  std::string host(hello->host);
  if (hello->version != k_version_text) {
    m_events.on_version(host, std::string(hello->version.substr(0, 32)));
    return fail(ErrorKind::refused, "unknown protocol version");
  }
  const bool is_pending = std::any_of(
      m_guests.begin(), m_guests.end(), [&](const auto& other) { return other->host == host; });
  switch (is_pending ? Admission::duplicate : m_events.admit(host)) {
  case Admission::unknown_host: return fail(ErrorKind::refused, "host is not part of the step");
  case Admission::duplicate: return fail(ErrorKind::refused, "second stepper of host " + host);
  case Admission::ok: break;
  }
  guest->host = std::move(host);
  // The channel is in the middle of its read: handlers are swapped when it is through.
  asio::post(m_loop, [this, guest] { promote(guest); });
  return {};
}

void Listener::promote(const std::shared_ptr<Guest>& guest) {
  if (std::find(m_guests.begin(), m_guests.end(), guest) == m_guests.end()) return;
  const auto channel = guest->channel;
  forget(guest);
  m_events.on_host(guest->host, channel);
}

void Listener::reject(const std::shared_ptr<Guest>& guest, const std::string& why) {
  guest->channel->close();
  forget(guest);
  m_events.on_rejected(why);
}

void Listener::forget(const std::shared_ptr<Guest>& guest) {
  guest->deadline.cancel();
  m_guests.remove(guest);
}

void Listener::close() {
  if (!m_open) return;
  m_open = false;
  boost::system::error_code ignored;
  m_socket.close(ignored);
  m_retry.cancel();
  for (const auto& guest : m_guests) {
    guest->deadline.cancel();
    guest->channel->close();
  }
  m_guests.clear();
}

} // namespace shim::proto
