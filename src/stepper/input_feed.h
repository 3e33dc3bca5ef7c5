#pragma once
// Standard input on its way from srun to the ranks of this host. Every reader takes it at its own
// pace: what one has not taken waits for it, and srun is told (credit) how much it may send. A
// reader that has stopped holds the others of this host back for a second only, and those of other
// hosts until srun says that they wait; then its bytes are put aside (InputLog). Writes never
// block. Protocol 7.5, DECISIONS 9.

#include "input_log.h"

#include "slurm_shim/posix/fd.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shim::stepper {

class InputFeed {
public:
  using Clock = std::chrono::steady_clock;
  // Readers are watched by `epoll` (borrowed) under `first_id` + index.
  InputFeed(int epoll, std::uint64_t first_id, std::string folder);
  void add(std::size_t rank, posix::Fd write_end);

  // IN: bytes for all readers of the host, or for one rank; behind them the end, maybe.
  void take(std::optional<std::size_t> rank, std::string_view bytes, bool is_end);
  // Ranks of other hosts wait for readers of this one.
  void put_aside_for_others();
  void on_ready(std::size_t index, std::uint32_t events); // as epoll gives them
  void drop_rank(std::size_t rank);                       // it has ended
  void on_time(Clock::time_point now);
  [[nodiscard]] std::optional<Clock::time_point> next_time() const;

  // Bytes that are held no longer since the last call, when they are worth a frame; else 0.
  [[nodiscard]] std::uint32_t take_credit();
  // Once: the rank whose bytes were put aside and cannot be read back.
  [[nodiscard]] std::optional<std::size_t> take_failure() { return std::exchange(m_failed, {}); }
  // True once, when the last reader has closed its stdin before the end.
  [[nodiscard]] bool take_closed();

private:
  using Position = InputLog::Position;
  struct Reader {
    posix::Fd fd; // closed: no reader any more
    std::size_t rank = 0;
    Position position = 0;
    Clock::time_point moved{}; // when it last took something, or began to wait
    bool is_watched = false;   // for room to write
  };

  void write_to(Reader& reader, std::string_view bytes);
  void write_from_log(Reader& reader);
  void close(Reader& reader);
  void watch(Reader& reader, bool for_room);
  void settle();
  enum class Aside { behind, stopped, stopped_and_others_starve };
  void put_aside(Aside whose);
  [[nodiscard]] Position oldest_needed() const;
  [[nodiscard]] bool is_crowded() const;
  [[nodiscard]] bool is_behind(const Reader& reader) const {
    return reader.position < m_log.memory_begin();
  }

  int m_epoll;
  std::uint64_t m_first_id;
  InputLog m_log;
  std::vector<Reader> m_readers;
  std::size_t m_open = 0;
  Position m_received = 0;
  Position m_acknowledged = 0;
  bool m_is_end = false;
  bool m_is_closed_told = false;
  bool m_is_aside_full = false;
  std::optional<std::size_t> m_failed;
};

} // namespace shim::stepper
