#include "control.h"

#include "slurm_shim/proto/messages.h"

#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <sys/uio.h>

namespace shim::stepper {

namespace {

struct EventHead {
  Event::Kind kind;
  std::uint32_t rank;
  int value;
};

Sent send_parts(int fd, iovec* parts, std::size_t count, int flags) {
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = count;
  for (;;) {
    if (::sendmsg(fd, &message, MSG_NOSIGNAL | flags) >= 0) return Sent::done;
    if (errno == EAGAIN) return Sent::would_block;
    if (errno != EINTR) return Sent::closed;
  }
}

// The size of the next packet, 0 at the end, -1 when there is none now.
ssize_t receive_packet(int fd, char* bytes, std::size_t size) {
  for (;;) {
    const auto got = ::recv(fd, bytes, size, MSG_DONTWAIT);
    if (got >= 0) return got;
    if (errno == EAGAIN) return -1;
    if (errno != EINTR) return 0;
  }
}

} // namespace

Sent send_command(int fd, const Command& command) {
  Command copy = command;
  iovec part{&copy, sizeof copy};
  return send_parts(fd, &part, 1, MSG_DONTWAIT);
}

Received receive_command(int fd, Command& command) {
  char bytes[sizeof command];
  const auto got = receive_packet(fd, bytes, sizeof bytes);
  if (got < 0) return Received::nothing;
  if (static_cast<std::size_t>(got) != sizeof command) return Received::closed;
  std::memcpy(&command, bytes, sizeof command);
  return Received::message;
}

Sent send_event(int fd, const Event& event) {
  EventHead head{event.kind, event.rank, event.value};
  std::string text = event.text.substr(0, proto::k_max_reason);
  iovec parts[2] = {{&head, sizeof head}, {text.data(), text.size()}};
  return send_parts(fd, parts, 2, 0);
}

Received receive_event(int fd, Event& event) {
  char bytes[sizeof(EventHead) + proto::k_max_reason];
  const auto got = receive_packet(fd, bytes, sizeof bytes);
  if (got < 0) return Received::nothing;
  if (static_cast<std::size_t>(got) < sizeof(EventHead)) return Received::closed;
  EventHead head{};
  std::memcpy(&head, bytes, sizeof head);
  event.kind = head.kind;
  event.rank = head.rank;
  event.value = head.value;
  event.text.assign(bytes + sizeof head, static_cast<std::size_t>(got) - sizeof head);
  return Received::message;
}

} // namespace shim::stepper
