#include "input_log.h"

#include "slurm_shim/base/assert.h"
#include "slurm_shim/posix/files.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace shim::stepper {

namespace {
constexpr std::size_t k_scratch_bytes = 65536;

posix::Fd open_unnamed(const std::string& folder) {
  if (auto file = posix::open_file(folder, O_TMPFILE | O_RDWR)) return std::move(*file);
  // File systems without O_TMPFILE.
  const auto path = folder + "/.stdin-" + posix::random_hex(8);
  auto file = posix::open_file(path, O_RDWR | O_CREAT | O_EXCL);
  if (!file) return {};
  ::unlink(path.c_str());
  return std::move(*file);
}
} // namespace

void InputLog::append(std::string_view bytes) {
  if (bytes.empty()) return;
  m_chunks.emplace_back(bytes);
  m_end += bytes.size();
}

void InputLog::skip_to(Position position) {
  SHIM_ASSERT(m_chunks.empty() && position >= m_end);
  m_memory_begin = m_end = position;
  release(position);
}

void InputLog::drop_memory(Position position) {
  auto count = static_cast<std::size_t>(position - m_memory_begin);
  m_memory_begin = position;
  while (count > 0) {
    const auto taken = std::min(count, m_chunks.front().size() - m_head);
    count -= taken;
    m_head += taken;
    if (m_head < m_chunks.front().size()) break;
    m_chunks.pop_front();
    m_head = 0;
  }
}

void InputLog::release(Position position) {
  if (position > m_memory_begin) drop_memory(position);
  if (position < m_memory_begin) return;
  // Everything that was put aside has been taken.
  if (has_aside() && ::ftruncate(m_file.get(), 0) != 0) m_file.reset();
  m_aside_begin = m_memory_begin;
}

bool InputLog::open_file() {
  if (m_file) return true;
  m_file = open_unnamed(m_folder);
  if (!m_file) return false;
  struct statvfs space {};
  if (::fstatvfs(m_file.get(), &space) == 0) {
    const auto free = static_cast<Position>(space.f_bavail) * space.f_frsize;
    m_most_aside = std::min(m_most_aside, free / 2);
  }
  return true;
}

// How many bytes are in the file now.
std::size_t InputLog::write_aside(std::string_view bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto at = m_memory_begin + done - m_aside_begin;
    const auto room = m_most_aside > at ? m_most_aside - at : 0;
    const auto count = std::min<Position>(bytes.size() - done, room);
    if (count == 0) return done;
    const auto written = ::pwrite(
        m_file.get(), bytes.data() + done, static_cast<std::size_t>(count), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return done;
    done += static_cast<std::size_t>(written);
  }
  return done;
}

bool InputLog::put_aside(Position position) {
  if (position <= m_memory_begin) return true;
  if (!open_file()) return false;
  while (m_memory_begin < position) {
    auto piece = std::string_view(m_chunks.front()).substr(m_head);
    piece = piece.substr(0, static_cast<std::size_t>(position - m_memory_begin));
    const auto done = write_aside(piece);
    const bool whole = done == piece.size();
    drop_memory(m_memory_begin + done);
    if (!whole) return false;
  }
  return true;
}

std::string_view InputLog::at(Position position) {
  SHIM_ASSERT(position >= m_aside_begin && position <= m_end);
  if (position < m_memory_begin) {
    m_scratch.resize(k_scratch_bytes);
    const auto count = std::min<Position>(m_scratch.size(), m_memory_begin - position);
    const auto got = ::pread(m_file.get(),
                             m_scratch.data(),
                             static_cast<std::size_t>(count),
                             static_cast<off_t>(position - m_aside_begin));
    if (got > 0) return {m_scratch.data(), static_cast<std::size_t>(got)};
    return {};
  }
  auto before = static_cast<std::size_t>(position - m_memory_begin) + m_head;
  for (const auto& chunk : m_chunks) {
    if (before < chunk.size()) return std::string_view(chunk).substr(before);
    before -= chunk.size();
  }
  return {};
}

} // namespace shim::stepper
