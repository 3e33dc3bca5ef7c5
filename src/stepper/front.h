#pragma once
// The stepper's loop: frames from srun, input and output of the ranks, words from the guardian.
// Owns the channel and the other ends of the ranks' pipes, never a rank. One thread, one epoll
// instance for everything and one nested in it for all but the pipes, to which the loop falls back
// while srun does not take what is already there. Spec stepper 1 and 4, protocol 6, OCS-FACTS-3
// section 7.

#include "control.h"
#include "heartbeat.h"
#include "input_feed.h"
#include "line_framer.h"
#include "send_buffer.h"
#include "startup.h"
#include "streams.h"

#include <chrono>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

namespace shim::stepper {

class Front {
public:
  struct Parts {
    Channel channel;
    posix::Fd control;   // to the guardian
    posix::Fd signal_fd; // TERM
    pid_t guardian = -1;
    std::span<char> buffer; // at least proto::k_receive_buffer
  };
  Front(Parts parts, const proto::StepSpec& spec, std::vector<RankStreams> streams);
  // What srun has sent before this object was there.
  void take_frames(std::string_view frames);
  [[nodiscard]] int run(); // the exit code

private:
  using Clock = std::chrono::steady_clock;
  struct Rank {
    std::uint32_t number = 0;       // global
    std::optional<Event> end;       // how it ended
    Clock::time_point give_up_at{}; // when the holders of its output are no longer waited for
    int open_streams = 0;
    bool complete = false; // nothing of its output is passed on any more
  };
  struct Stream {
    posix::Fd fd;
    std::size_t rank = 0;
    LineFramer framer;
    Clock::time_point show_at{}; // of an open line
  };

  // front.cpp: the loop, the guardian, the ranks
  void signal_ranks(int number); // also those that are not started yet
  void add_rank(std::size_t index, RankStreams streams);
  void watch_descriptors();
  [[nodiscard]] int next_timeout() const;
  void wait_and_handle();
  void handle_others();
  void handle_timers();
  void handle_events();
  void on_event(Event event);
  void on_guardian_end();
  void tell_guardian(const Command& command);
  void flush_commands();
  void terminate();
  void keep_in_touch(Clock::time_point now);
  void check_rank(std::size_t index);
  void complete_rank(std::size_t index);
  void report(const Rank& rank);
  [[nodiscard]] bool is_done() const;
  [[nodiscard]] int finish();

  // front_io.cpp: pipes in, frames out and in
  [[nodiscard]] bool is_backed_up() const { return m_out.size() >= k_max_unsent; }
  void read_stream(std::size_t index);
  void take_output(Stream& stream, std::string_view bytes);
  void close_stream(Stream& stream);
  void drain_streams_of(std::size_t rank);
  void show_open_lines(Clock::time_point now);
  void send_frame(proto::FrameType type, std::uint32_t rank, std::string_view payload);
  void flush_channel();
  void watch_writable(bool wanted);
  void read_channel();
  void on_frame(const proto::FrameView& frame);
  void on_input(const proto::FrameView& frame);
  void on_window_size(const proto::FrameView& frame);
  void tell_input_state();
  void lose_channel();

  static constexpr std::size_t k_max_unsent = std::size_t{1} << 20;

  Channel m_channel;
  posix::Fd m_control;
  posix::Fd m_signal_fd;
  pid_t m_guardian;
  std::span<char> m_buffer;
  bool m_hold_lines; // labelled output: an open line waits for its end
  bool m_unbuffered;
  posix::Fd m_all, m_others; // epoll
  Heartbeat m_heartbeat;
  std::vector<Rank> m_ranks;
  std::vector<Stream> m_streams;
  InputFeed m_input;
  std::optional<std::size_t> m_terminal; // the stream that is a terminal
  SendBuffer m_out;
  std::deque<Command> m_commands;             // that the guardian's socket did not take yet
  std::size_t m_incomplete = 0;               // ranks
  std::size_t m_lingering = 0;                // ranks that have ended, their output not yet
  std::optional<Clock::time_point> m_show_at; // the earliest of the streams'
  // The last rank is reported when nothing of the step is left on this host: whoever sees the step
  // end may count on it. An unkillable stray (a dead NFS server) does not hold it for ever.
  std::optional<std::size_t> m_held;
  Clock::time_point m_hold_until{};
  std::optional<Clock::time_point> m_leave_at; // terminated: srun's reading is not waited for
  int m_highest_code = 0;
  bool m_channel_lost = false;
  bool m_watch_writable = false;
  bool m_terminated = false; // by TERM
  bool m_terminating = false;
  bool m_clean = false;
  bool m_guardian_gone = false;
};

} // namespace shim::stepper
