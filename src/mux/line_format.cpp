#include "slurm_shim/base/assert.h"
#include "slurm_shim/mux/output.h"

#include <algorithm>
#include <charconv>

namespace shim::mux {

LineFormat::LineFormat(bool label, bool pieces, int ntasks)
    : m_label(label), m_pieces(pieces), m_ntasks(ntasks) {
  m_width = std::to_string(std::max(ntasks - 1, 0)).size();
}

std::string& LineFormat::held(int rank, Stream stream) {
  SHIM_ASSERT(rank >= 0 && rank < m_ntasks);
  if (m_held.empty()) m_held.resize(static_cast<std::size_t>(m_ntasks) * 2);
  return m_held[static_cast<std::size_t>(rank) * 2 + static_cast<std::size_t>(stream)];
}

void LineFormat::put_label(std::string& out, int rank) const {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, rank).ptr;
  const auto length = static_cast<std::size_t>(end - digits);
  if (length < m_width) out.append(m_width - length, ' ');
  out.append(digits, length);
  out += ": ";
}

void LineFormat::append(
    std::string& out, int rank, Stream stream, std::string_view payload, bool eol) {
  if (m_label) return append_labelled(out, rank, stream, payload, eol);
  out += payload;
  if (eol) out += '\n';
}

void LineFormat::append_labelled(
    std::string& out, int rank, Stream stream, std::string_view piece, bool eol) {
  auto& line = held(rank, stream);
  if (!eol && !m_pieces && line.size() + piece.size() < k_max_held_line) {
    line += piece;
    return;
  }
  // A piece without bytes and line feed shows nothing; a stepper does not send one.
  if (!eol && line.empty() && piece.empty()) return;
  put_label(out, rank);
  out += line;
  out += piece;
  out += '\n';
  line.clear();
}

void LineFormat::finish(std::string& out, int rank, Stream stream) {
  if (!m_label || m_held.empty()) return;
  auto& line = held(rank, stream);
  if (line.empty()) return;
  put_label(out, rank);
  out += line;
  out += '\n';
  line = {};
}

Output::Output(Writer& writer, LineFormat format, int ntasks)
    : m_writer(writer), m_format(std::move(format)),
      m_routes(static_cast<std::size_t>(ntasks) * 2, k_discard) {}

void Output::put(int rank, Stream stream, std::string_view payload, bool eol) {
  const int sink = slot(rank, stream);
  if (sink != k_discard) m_format.append(m_writer.buffer(sink), rank, stream, payload, eol);
}

void Output::finish_rank(int rank) {
  for (const auto stream : {Stream::out, Stream::err})
    if (const int sink = slot(rank, stream); sink != k_discard)
      m_format.finish(m_writer.buffer(sink), rank, stream);
}

} // namespace shim::mux
