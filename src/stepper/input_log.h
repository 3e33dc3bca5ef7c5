#pragma once
// The bytes of standard input that some rank of this host has not taken yet. What is new is in
// memory; what only ranks need that do not read is put aside in a file without a name, so that they
// hold nobody up. Positions count from the first byte of the step. Protocol 7.5, DECISIONS 9.

#include "slurm_shim/posix/fd.h"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace shim::stepper {

class InputLog {
public:
  using Position = std::uint64_t;
  // The file is made in `folder` when it is first needed, and grows to `most_aside` bytes, or to
  // half of what the file system has left then.
  InputLog(std::string folder, Position most_aside)
      : m_folder(std::move(folder)), m_most_aside(most_aside) {}

  void append(std::string_view bytes);
  // An empty log goes on at `position`: bytes that every reader took at once were never in it.
  void skip_to(Position position);
  // Nobody needs what is before `position` any more.
  void release(Position position);
  // Writes what is in memory before `position` into the file. False: only a part or nothing, since
  // there is no room. Nothing is lost then.
  bool put_aside(Position position);

  // Bytes from `position` on, at least one when position < end(); as many as are in one piece.
  // Valid until the next call. Empty: the file cannot be read.
  [[nodiscard]] std::string_view at(Position position);
  [[nodiscard]] Position memory_begin() const { return m_memory_begin; } // before: in the file
  [[nodiscard]] Position end() const { return m_end; }
  [[nodiscard]] std::size_t in_memory() const {
    return static_cast<std::size_t>(m_end - m_memory_begin);
  }
  [[nodiscard]] bool has_aside() const { return m_aside_begin < m_memory_begin; }

private:
  [[nodiscard]] bool open_file();
  [[nodiscard]] std::size_t write_aside(std::string_view bytes);
  void drop_memory(Position position);

  std::string m_folder;
  Position m_most_aside;
  posix::Fd m_file;
  Position m_aside_begin = 0; // the file's first byte
  Position m_memory_begin = 0;
  Position m_end = 0;
  std::deque<std::string> m_chunks;
  std::size_t m_head = 0; // bytes of the first chunk that are gone
  std::vector<char> m_scratch;
};

} // namespace shim::stepper
