#pragma once
// A step's output on its way from the ranks to srun's stdout, stderr and files. Output decides for
// each piece where it goes and what is put around it (labels, line feeds); Writer carries whole
// buffers to descriptors without ever blocking the loop. Spec mux, decisions 10 and 11.

#include "slurm_shim/base/result.h"
#include "slurm_shim/mux/writer.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shim::mux {

enum class Stream : std::uint8_t { out = 0, err = 1 };

inline constexpr std::size_t k_max_held_line = 65536;

// Puts the lines of one step together as Slurm shows them. Without labels not one byte is added or
// lost. With labels a line is held until it is complete (64 KiB, or the rank's end) and always ends
// with a line feed; `pieces` (-l -u) makes every piece a line of its own. Pure.
class LineFormat {
public:
  // `ntasks` gives the width of the label: Slurm pads to the highest rank.
  LineFormat(bool label, bool pieces, int ntasks);
  void append(std::string& out, int rank, Stream stream, std::string_view payload, bool eol);
  // What is held of the stream, with its line feed.
  void finish(std::string& out, int rank, Stream stream);

private:
  void append_labelled(std::string& out, int rank, Stream stream, std::string_view piece, bool eol);
  [[nodiscard]] std::string& held(int rank, Stream stream);
  void put_label(std::string& out, int rank) const;

  bool m_label, m_pieces;
  int m_ntasks;
  std::size_t m_width = 1;
  std::vector<std::string> m_held; // per rank and stream, when labelling
};

// Routes (rank, stream) to a sink of the writer.
class Output {
public:
  Output(Writer& writer, LineFormat format, int ntasks);

  static constexpr int k_discard = -1;
  // `sink`: what Writer::add_sink gave, or k_discard.
  void route(int rank, Stream stream, int sink) { slot(rank, stream) = sink; }
  void put(int rank, Stream stream, std::string_view payload, bool eol);
  void finish_rank(int rank);

private:
  [[nodiscard]] int& slot(int rank, Stream stream) {
    return m_routes[static_cast<std::size_t>(rank) * 2 + static_cast<std::size_t>(stream)];
  }
  Writer& m_writer;
  LineFormat m_format;
  std::vector<int> m_routes;
};

} // namespace shim::mux
