#include "startup.h"

#include "slurm_shim/posix/signals.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>

namespace shim::stepper {

namespace {

constexpr int k_terminated = 128 + 15;

class SpecCollector {
public:
  Result<void> operator()(const proto::FrameView& frame, int socket) {
    switch (static_cast<proto::FrameType>(frame.header.type)) {
    case proto::FrameType::ping: {
      std::string pong;
      proto::append_frame(pong, proto::FrameType::pong, 0, 0, {});
      static_cast<void>(send_all(socket, pong)); // a lost peer shows at the next read
      return {};
    }
    case proto::FrameType::spec: return add_piece(frame);
    default:
      proto::append_frame(m_others,
                          static_cast<proto::FrameType>(frame.header.type),
                          frame.header.flags,
                          frame.header.rank,
                          frame.payload);
      return {};
    }
  }
  [[nodiscard]] bool complete() const { return m_complete; }
  [[nodiscard]] Result<Start> decode() {
    TRY_ASSIGN(auto spec, proto::decode_step_spec(m_text));
    if (spec.command.empty()) return fail(ErrorKind::malformed, "the step has no command");
    return Start{std::move(spec), std::move(m_others)};
  }

private:
  Result<void> add_piece(const proto::FrameView& frame) {
    if (m_complete) return {};
    if (m_text.size() + frame.payload.size() > proto::k_max_spec)
      return fail(ErrorKind::malformed, "the step's description exceeds 64 MiB");
    m_text += frame.payload;
    m_complete = (frame.header.flags & proto::k_spec_more) == 0;
    return {};
  }

  std::string m_text;
  std::string m_others;
  bool m_complete = false;
};

Error lost(std::string why) {
  return Error{ErrorKind::unavailable, "no step description received: " + std::move(why), 1};
}

} // namespace

Result<proto::Envelope> parse_arguments(std::span<char* const> args) {
  if (args.size() != 2 || std::string_view(args[0]) != "--envelope")
    return fail(ErrorKind::usage, "usage: slurm-shim stepper --envelope <envelope>");
  auto envelope = proto::decode_envelope(args[1]);
  if (!envelope) return tl::unexpected<Error>(std::move(envelope).error().context("bad envelope"));
  return envelope;
}

Result<proto::Token> take_token() {
  const std::string name(proto::k_token_variable);
  char* value = std::getenv(name.c_str()); // NOLINT(concurrency-mt-unsafe): one thread
  if (value == nullptr || *value == '\0')
    return fail(ErrorKind::usage, name + " is not set: a stepper is started by srun only");
  proto::Token token{std::string(value)};
  ::explicit_bzero(value, std::strlen(value));
  ::unsetenv(name.c_str()); // NOLINT(concurrency-mt-unsafe)
  return token;
}

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
      continue;
    }
    if (errno != EAGAIN && errno != EINTR) return false;
    pollfd writable{socket, POLLOUT, 0};
    ::poll(&writable, 1, -1);
  }
  return true;
}

Result<Start> receive_spec(Channel& channel, int signal_fd, std::span<char> buffer) {
  SpecCollector collector;
  const int socket = channel.socket.get();
  while (!collector.complete()) {
    pollfd ready[2] = {{socket, POLLIN, 0}, {signal_fd, POLLIN, 0}};
    if (::poll(ready, 2, -1) < 0) continue;
    if (ready[1].revents != 0 && posix::take_signal(signal_fd) != 0)
      return fail(ErrorKind::refused, "", k_terminated);
    if (ready[0].revents == 0) continue;
    const auto kept = channel.stream.begin(buffer);
    const auto got = ::recv(socket, buffer.data() + kept, buffer.size() - kept, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
      TRY(channel.stream.finish({buffer.data(), kept}, [](const auto&) { return Result<void>{}; }));
      continue;
    }
    if (got < 0) return tl::unexpected<Error>(lost(std::strerror(errno))); // NOLINT: one thread
    // srun is gone, or gave the launch up and has said why: nothing is said a second time.
    if (got == 0) return fail(ErrorKind::unavailable, "", 1);
    const std::string_view bytes(buffer.data(), kept + static_cast<std::size_t>(got));
    TRY(channel.stream.finish(
        bytes, [&](const proto::FrameView& frame) { return collector(frame, socket); }));
  }
  return collector.decode();
}

} // namespace shim::stepper
