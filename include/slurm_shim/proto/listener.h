#pragma once
// srun's end of the connection set-up: binds one port, accepts, and authenticates by HELLO. Owns
// the connections until they are authenticated: at most 64, 512 bytes and 10 s each. Which hosts
// belong to the step is the owner's knowledge (admit). Spec protocol 1 and 6, launch 1 step 10,
// decision 5.

#include "slurm_shim/base/result.h"
#include "slurm_shim/proto/channel.h"
#include "slurm_shim/proto/token.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string>

namespace shim::proto {

inline constexpr std::size_t k_max_unauthenticated = 64;

struct BindRequest {
  bool any_address = false;          // 0.0.0.0 instead of 127.0.0.1
  int first_port = 0, last_port = 0; // 0, 0 = whatever is free
  std::uint32_t start = 0;           // pseudo-random: where in the range to begin
};

struct BoundSocket {
  posix::Fd fd;
  int port = 0;
};
// Error: "no free control port in 61000-61439".
[[nodiscard]] Result<BoundSocket> bind_listener(const BindRequest& request);

enum class Admission { ok, unknown_host, duplicate };

class Listener {
public:
  struct Events {
    std::function<Admission(const std::string& host)> admit;
    std::function<void(const std::string& host, std::shared_ptr<Channel>)> on_host;
    // A stepper with the right token and a protocol that we do not speak.
    std::function<void(const std::string& host, const std::string& version)> on_version;
    // A connection was closed: why, for one warning. Never holds what the peer sent.
    std::function<void(const std::string& why)> on_rejected;
  };

  Listener(boost::asio::io_context& loop,
           posix::Fd socket,
           const Token& token,
           std::span<char> receive_buffer,
           Events events);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { close(); }

  void start();
  void close(); // the port and all connections that are not authenticated
  [[nodiscard]] bool is_open() const { return m_open; }

private:
  struct Guest; // a connection before its HELLO
  using GuestList = std::list<std::shared_ptr<Guest>>;

  void wait_acceptable();
  void accept_all();
  [[nodiscard]] bool make_room();
  void accept_later();
  void receive(posix::Fd socket);
  Result<void> on_hello(const std::shared_ptr<Guest>& guest, const FrameView& frame);
  void promote(const std::shared_ptr<Guest>& guest);
  void reject(const std::shared_ptr<Guest>& guest, const std::string& why);
  void forget(const std::shared_ptr<Guest>& guest);

  boost::asio::io_context& m_loop;
  boost::asio::posix::stream_descriptor m_socket;
  boost::asio::steady_timer m_retry;
  const Token& m_token;
  std::span<char> m_buffer;
  Events m_events;
  GuestList m_guests; // oldest first
  bool m_open = true;
};

} // namespace shim::proto
