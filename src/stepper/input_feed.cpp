#include "input_feed.h"

#include "slurm_shim/proto/frame.h"

#include <algorithm>
#include <cerrno>

#include <sys/epoll.h>
#include <unistd.h>

namespace shim::stepper {

namespace {

using namespace std::chrono_literals;

constexpr auto k_stopped = 1s; // a reader that takes nothing for so long has stopped
constexpr InputLog::Position k_most_aside = InputLog::Position{4} << 30;
constexpr std::size_t k_crowded = proto::k_input_window / 2;
constexpr std::size_t k_ack_quantum = proto::k_input_window / 4;

} // namespace

InputFeed::InputFeed(int epoll, std::uint64_t first_id, std::string folder)
    : m_epoll(epoll), m_first_id(first_id), m_log(std::move(folder), k_most_aside) {}

void InputFeed::add(std::size_t rank, posix::Fd write_end) {
  epoll_event event{}; // the end of the reader is always told
  event.data.u64 = m_first_id + m_readers.size();
  ::epoll_ctl(m_epoll, EPOLL_CTL_ADD, write_end.get(), &event);
  m_readers.push_back({std::move(write_end), rank, 0, Clock::now(), false});
  ++m_open;
}

void InputFeed::watch(Reader& reader, bool for_room) {
  if (reader.is_watched == for_room || !reader.fd) return;
  reader.is_watched = for_room;
  epoll_event event{};
  event.events = for_room ? EPOLLOUT : 0U;
  event.data.u64 = m_first_id + static_cast<std::uint64_t>(&reader - m_readers.data());
  ::epoll_ctl(m_epoll, EPOLL_CTL_MOD, reader.fd.get(), &event);
}

void InputFeed::close(Reader& reader) {
  if (!reader.fd) return;
  reader.fd.reset();
  --m_open;
}

// As much of `bytes`, which begin at its position, as it takes now.
void InputFeed::write_to(Reader& reader, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(reader.fd.get(), bytes.data(), bytes.size());
    if (written > 0) {
      reader.position += static_cast<Position>(written);
      reader.moved = Clock::now();
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (written == 0 || errno == EAGAIN) {
      return watch(reader, true);
    } else if (errno != EINTR) {
      return close(reader);
    }
  }
}

void InputFeed::write_from_log(Reader& reader) {
  // One piece of each kind, so that a fast reader of a long log does not keep the loop.
  for (int piece = 0; piece < 4 && reader.fd && reader.position < m_log.end(); ++piece) {
    const auto bytes = m_log.at(reader.position);
    if (bytes.empty()) {
      m_failed = reader.rank;
      return close(reader);
    }
    const auto before = reader.position;
    write_to(reader, bytes);
    if (!reader.fd || reader.position != before + bytes.size()) return;
  }
  watch(reader, reader.position < m_log.end());
}

void InputFeed::take(std::optional<std::size_t> rank, std::string_view bytes, bool is_end) {
  if (rank && std::none_of(m_readers.begin(), m_readers.end(), [rank](const Reader& reader) {
        return reader.rank == *rank;
      }))
    return;
  const auto begin = m_received;
  m_received += bytes.size();
  m_is_end = m_is_end || is_end;
  // Who is up to date is written to from where the bytes are; only what is left is copied.
  Position needed = m_received;
  for (auto& reader : m_readers) {
    if (!reader.fd) continue;
    if (reader.position == begin) {
      reader.moved = Clock::now();
      write_to(reader, bytes);
    }
    if (reader.fd) needed = std::min(needed, reader.position);
  }
  if (m_log.in_memory() == 0 && !m_log.has_aside()) m_log.skip_to(needed);
  m_log.append(bytes.substr(static_cast<std::size_t>(m_log.end() - begin)));
  settle();
}

InputFeed::Position InputFeed::oldest_needed() const {
  Position oldest = m_received;
  for (const auto& reader : m_readers)
    if (reader.fd) oldest = std::min(oldest, reader.position);
  return oldest;
}

// Lets go of what nobody needs, and of the readers that have everything.
void InputFeed::settle() {
  if (m_is_end)
    for (auto& reader : m_readers)
      if (reader.fd && reader.position == m_received) close(reader);
  m_log.release(oldest_needed());
  // Once behind, a reader has its bytes put aside at once; those who are not, hold them in memory.
  if (m_log.has_aside() && !m_is_aside_full) put_aside(Aside::behind);
  if (!m_log.has_aside()) m_is_aside_full = false;
}

bool InputFeed::is_crowded() const {
  return m_log.in_memory() >= k_crowded && m_open > 1 && !m_is_aside_full;
}

// What only readers that are behind already need leaves the memory, or also what those need that
// have stopped.
void InputFeed::put_aside(Aside whose) {
  const auto now = Clock::now();
  Position needed = m_received;
  bool has_starving = false;
  for (const auto& reader : m_readers) {
    if (!reader.fd) continue;
    has_starving = has_starving || reader.position == m_received;
    const bool has_stopped =
        is_behind(reader) || (whose != Aside::behind && reader.moved + k_stopped <= now);
    if (!has_stopped) needed = std::min(needed, reader.position);
  }
  if (whose == Aside::stopped_and_others_starve && !has_starving) return;
  if (!m_log.put_aside(needed)) m_is_aside_full = true;
}

void InputFeed::put_aside_for_others() {
  if (!m_is_aside_full && m_log.in_memory() > 0) put_aside(Aside::stopped);
}

void InputFeed::on_ready(std::size_t index, std::uint32_t events) {
  auto& reader = m_readers[index];
  if (!reader.fd) return;
  if ((events & (EPOLLERR | EPOLLHUP)) != 0)
    close(reader);
  else
    write_from_log(reader);
  settle();
}

void InputFeed::drop_rank(std::size_t rank) {
  for (auto& reader : m_readers)
    if (reader.rank == rank) close(reader);
  settle();
}

std::optional<InputFeed::Clock::time_point> InputFeed::next_time() const {
  if (!is_crowded()) return std::nullopt;
  // The first reader that may turn out to have stopped while another one has nothing to do.
  std::optional<Clock::time_point> next;
  bool has_starving = false;
  for (const auto& reader : m_readers) {
    if (!reader.fd || is_behind(reader)) continue;
    if (reader.position == m_received)
      has_starving = true;
    else
      next = next ? std::min(*next, reader.moved + k_stopped) : reader.moved + k_stopped;
  }
  return has_starving ? next : std::nullopt;
}

void InputFeed::on_time(Clock::time_point now) {
  if (const auto next = next_time(); next && now >= *next)
    put_aside(Aside::stopped_and_others_starve);
}

std::uint32_t InputFeed::take_credit() {
  const auto free = m_received - m_log.in_memory() - m_acknowledged;
  if (free < k_ack_quantum) return 0;
  m_acknowledged += free;
  return static_cast<std::uint32_t>(free);
}

bool InputFeed::take_closed() {
  if (m_open > 0 || m_readers.empty() || m_is_end) return false;
  return !std::exchange(m_is_closed_told, true);
}

} // namespace shim::stepper
