#pragma once
// Moves srun's standard input to the hosts whose ranks read it: one frame for all, as fast as the
// slowest of them gives credit. A host whose ranks have stopped reading is told when others wait
// because of it. Protocol 7.5, decision 9.

#include "input_source.h"

#include "slurm_shim/proto/channel.h"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shim::commands::srun {

class InputPump {
public:
  using Clock = std::chrono::steady_clock;
  // `hosts`: by index of the step's hosts; no channel where no rank reads. `only_rank`: none = all
  // ranks that read. `on_error` gets the reason of a read that failed; it counts as the end.
  InputPump(boost::asio::io_context& loop,
            int fd,
            std::optional<int> only_rank,
            std::vector<std::shared_ptr<proto::Channel>> hosts,
            std::function<void(const std::string&)> on_error);

  void start() { pump(); }
  void stop();
  // IN_ACK. Error: more credit than was used.
  [[nodiscard]] Result<void> on_credit(std::size_t host, std::uint32_t credit, bool is_closed);
  void lose_host(std::size_t host);
  void on_tick(Clock::time_point now);

private:
  struct Host {
    std::shared_ptr<proto::Channel> channel; // none: does not read (any more)
    std::size_t unacknowledged = 0;
    Clock::time_point heard{}; // of the last credit, or of the first byte after none were out
  };

  void pump();
  [[nodiscard]] bool pump_once();
  [[nodiscard]] std::size_t room() const; // 0 also when nobody reads
  void send(std::string frame, std::size_t payload);
  void wait();

  boost::asio::io_context& m_loop;
  InputSource m_source;
  std::uint32_t m_rank;
  std::vector<Host> m_hosts;
  std::function<void(const std::string&)> m_on_error;
  bool m_is_done = false;
  bool m_is_waiting = false; // for the source
  bool m_is_posted = false;
  bool m_is_in_background = false; // a terminal that others have: tried again at each tick
  std::shared_ptr<const bool> m_alive = std::make_shared<const bool>(true);
};

} // namespace shim::commands::srun
