#pragma once
// An interactive job: qrsh without -inherit. The argument vector from the same request as a
// submission by qsub, and what qrsh says before the command's own output begins. Pure. Decision
// E10.

#include "slurm_shim/base/result.h"
#include "slurm_shim/ge/qsub.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::ge {

struct InteractiveRequest {
  bool at_once = false; // -now y: refused when no host is free in this moment
  bool stdin_closed = false;
  std::vector<std::string> command; // not split by a shell
};

// Without argv[0]. Of `job`, what qrsh does not know is left out: see unknown_to_qrsh.
[[nodiscard]] std::vector<std::string> build_interactive_args(const QsubRequest& job,
                                                              const InteractiveRequest& request);
// What of `job` qrsh cannot do: "begin", "array".
[[nodiscard]] std::vector<std::string> unknown_to_qrsh(const QsubRequest& job);

// `qrsh -verbose` tells on stdout and stderr what becomes of the job; the command's output follows
// on the same streams. This takes the telling out, whatever the pieces that it arrives in.
class QrshTalk {
public:
  enum class Stream { out, err };
  // The command's own bytes in this piece.
  [[nodiscard]] std::string feed(Stream stream, std::string_view bytes);
  // At the end of the stream: a beginning that turned out to be no telling.
  [[nodiscard]] std::string finish(Stream stream);

  [[nodiscard]] std::optional<std::int64_t> job() const { return m_job; }
  [[nodiscard]] bool is_scheduled() const { return m_is_scheduled; } // a host was found
  [[nodiscard]] bool is_started() const { return m_is_started; }     // the command's output follows
  // Everything else that was said before the start: why there was none.
  [[nodiscard]] const std::string& complaints() const { return m_complaints; }

private:
  void take_line(std::string_view line);
  std::optional<std::int64_t> m_job;
  bool m_is_scheduled = false, m_is_started = false, m_out_is_open = false;
  std::string m_out, m_err; // incomplete lines
  std::string m_complaints;
};

} // namespace shim::ge
