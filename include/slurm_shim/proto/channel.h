#pragma once
// One connection of the control channel on an Asio loop: reads whole frames, queues what is sent,
// never blocks. The owner keeps the object alive as long as the loop runs its handlers, or destroys
// it from outside of a handler of this object; handlers that come late find it closed. Has no
// deadlines of its own: srun's heartbeat (spec protocol 7.6) decides when silence is death.

#include "slurm_shim/base/result.h"
#include "slurm_shim/posix/fd.h"
#include "slurm_shim/proto/frame.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace shim::proto {

class Channel : public std::enable_shared_from_this<Channel> {
public:
  using Clock = std::chrono::steady_clock;
  struct Events {
    // An error is a violation of the protocol: the channel closes and on_closed tells its text.
    std::function<Result<void>(const FrameView&)> on_frame;
    // End of the connection, once; not called after close(). "" = orderly end of file.
    std::function<void(const std::string& reason)> on_closed;
    // Called when a read has been handled completely; may be empty.
    std::function<void()> on_batch_done;
  };

  // `receive_buffer` is shared by all channels of the loop (k_receive_buffer bytes).
  [[nodiscard]] static std::shared_ptr<Channel>
  create(boost::asio::io_context& loop, posix::Fd socket, std::span<char> receive_buffer);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() = default;

  void start(Events events, std::size_t max_payload = k_max_payload);
  // Replaces handlers and limit of a started channel (after authentication).
  void hand_over(Events events, std::size_t max_payload = k_max_payload);

  void send(FrameType type, std::uint8_t flags, std::uint32_t rank, std::string_view payload);
  // Whole frames that go to several hosts: not copied.
  void send_shared(std::shared_ptr<const std::string> frames);
  // `head` + `tail` as SPEC frames of at most 1 MiB; `head` is shared by all hosts, not copied.
  void send_spec(const std::shared_ptr<const std::string>& head, std::string tail);

  // Back-pressure: while paused, nothing is taken from the socket.
  void pause_reading();
  void resume_reading();
  [[nodiscard]] bool is_paused() const { return m_paused; }

  void close(); // no handler is called any more
  [[nodiscard]] bool is_open() const { return m_open; }
  [[nodiscard]] Clock::time_point last_heard() const { return m_last_heard; }
  // A suspended srun restarts the measure of silence.
  void forgive_silence(Clock::time_point now) { m_last_heard = now; }
  [[nodiscard]] bool has_unsent() const { return !m_queue.empty(); }

private:
  struct Chunk {
    std::string own;
    std::shared_ptr<const std::string> shared; // set: `own` is unused
    std::size_t offset = 0, end = 0;
    [[nodiscard]] std::string_view rest() const {
      return std::string_view(shared ? *shared : own).substr(offset, end - offset);
    }
  };

  Channel(boost::asio::io_context& loop, posix::Fd socket, std::span<char> receive_buffer);
  void queue(std::string bytes);
  void queue_shared(std::shared_ptr<const std::string> bytes, std::size_t begin, std::size_t end);
  void wait_readable();
  void on_readable();
  void flush();
  [[nodiscard]] bool write_some(); // false: would block, or closed
  void fail_with(const std::string& reason);

  boost::asio::posix::stream_descriptor m_socket;
  std::span<char> m_buffer;
  Events m_events;
  std::size_t m_max_payload = k_max_payload;
  FrameStream m_stream;
  std::deque<Chunk> m_queue;
  Clock::time_point m_last_heard = Clock::now();
  bool m_open = true;
  bool m_paused = false;
  bool m_read_pending = false;
  bool m_write_pending = false;
};

} // namespace shim::proto
