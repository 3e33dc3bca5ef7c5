#pragma once
// The stepper processes of a step: starts them (at most `ramp` remote ones at a time), watches each
// new one for two seconds, tries refused hosts again, reads the clients' stderr, reaps. What
// happens on the control channel is told to it (connected). A qrsh client is never signalled.
// Decisions 2, 7a, 12; spec launch 2 and 3.

#include "slurm_shim/launch/launcher.h"
#include "slurm_shim/launch/qrsh.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shim::commands::srun {

class Fleet {
public:
  using Clock = std::chrono::steady_clock;
  struct Member {
    std::string host; // layout name, for messages
    std::string engine_name;
    std::string envelope;
    bool remote = false;
  };
  struct Setup {
    std::string self; // this binary
    std::string qrsh; // "" when nothing is remote
    EnvList env;
    int ramp = 64;
  };
  struct Events {
    std::function<void(const std::string& message)> on_fatal;
    // The process of a host that had connected has ended.
    std::function<void(std::size_t member)> on_ended;
    // A refusal: does another running step of this job use the host? Then its slots are in use.
    std::function<bool(const std::string& host)> is_host_busy;
    // Something is waited for that only time can give (slots): tell once.
    std::function<void()> on_slots_wait;
    std::function<void(std::string_view text)> on_client_text; // what clients say on stderr
  };

  Fleet(boost::asio::io_context& loop,
        const proto::Token& token,
        Setup setup,
        std::vector<Member> members,
        Events events);
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;
  ~Fleet() = default;

  void start();
  // HELLO came: the watch is over, the place in the ramp is free.
  void connected(std::size_t index);
  // After SIGCHLD.
  void reap();
  // No further starts and retries (the launch failed, or srun is on its way out).
  void stop() { m_stopped = true; }

  // TERM or KILL to local steppers; never to a qrsh.
  void signal_local(int number);
  [[nodiscard]] std::size_t running() const { return m_running; }
  [[nodiscard]] bool waits_for_slots() const;
  [[nodiscard]] Clock::time_point last_start() const { return m_last_start; }

private:
  enum class State { idle, watched, settled, refused, connected, ended };
  struct Slot {
    Slot(boost::asio::io_context& loop, Member m) : member(std::move(m)), timer(loop), pipe(loop) {}
    Member member;
    State state = State::idle;
    pid_t pid = -1;
    boost::asio::steady_timer timer;
    boost::asio::posix::stream_descriptor pipe;
    launch::StderrTail tail;
    std::optional<launch::RetryPolicy> policy;
    launch::Rejection rejection = launch::Rejection::job_race;
  };

  void fill_ramp();
  void start_one(std::size_t index);
  void watch(std::size_t index);
  void read_client(std::size_t index);
  void drain_client(Slot& slot) const;
  void on_exit(std::size_t index, int status);
  void on_refused(std::size_t index);
  [[nodiscard]] static bool occupies_ramp(const Slot& slot);

  boost::asio::io_context& m_loop;
  const proto::Token& m_token;
  Setup m_setup;
  std::vector<std::unique_ptr<Slot>> m_slots;
  Events m_events;
  std::size_t m_next = 0; // first member that was never started
  std::size_t m_running = 0;
  std::size_t m_in_ramp = 0;
  Clock::time_point m_last_start = Clock::now();
  bool m_stopped = false;
};

} // namespace shim::commands::srun
