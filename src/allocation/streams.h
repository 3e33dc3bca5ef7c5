#pragma once
// The streams between the user and qrsh, and what qrsh says on them: stdout by a raw pseudo
// terminal, since qrsh holds its first line, the job's number, back on anything else; stdin and
// stderr by pipes. For a command on a terminal, which is the supervisor's, stdin carries frames:
// what the user's terminal looks like, keys, window sizes. Nothing here blocks on a reader that
// does not read.
//
// Input waits until the command begins. 8.1.9 cannot take it earlier: what comes before the job's
// shepherd has heard how to start it fills the pipe that nobody reads yet.

#include "begun_mark.h"

#include "slurm_shim/base/result.h"
#include "slurm_shim/ge/interactive.h"
#include "slurm_shim/posix/fd.h"
#include "slurm_shim/posix/spawn.h"
#include "slurm_shim/posix/terminal.h"
#include "slurm_shim/proto/frame.h"

#include <optional>
#include <string>
#include <vector>

#include <poll.h>

namespace shim::allocation {

class Streams {
public:
  // Fills in the request's descriptors; they are closed here by started().
  [[nodiscard]] Result<void> open(bool pty, bool stdin_closed, posix::SpawnRequest& child);
  void started();

  void add_polls(std::vector<pollfd>& polls) const;
  void handle(const std::vector<pollfd>& polls);

  [[nodiscard]] const ge::QrshTalk& talk() const { return m_talk; }
  void resize();
  void leave_terminal();
  // Everything from qrsh is read and passed on.
  [[nodiscard]] bool are_drained() const;
  // Whoever read our stdout has gone.
  [[nodiscard]] bool is_stdout_gone() const { return m_is_stdout_gone; }

private:
  struct Source { // from qrsh to one of our descriptors
    posix::Fd fd;
    ge::QrshTalk::Stream stream = ge::QrshTalk::Stream::out;
    int target = 1;
    std::string pending; // read, not yet written
  };
  void read_source(Source& source);
  void write_source(Source& source);
  [[nodiscard]] std::string take_mark(const Source& source, std::string bytes);
  void enter_terminal();
  void send(proto::FrameType type, std::string_view payload); // to the supervisor's terminal
  [[nodiscard]] bool reads_input() const;
  void read_input();
  void write_input();

  ge::QrshTalk m_talk;
  BegunMark m_mark;
  std::vector<Source> m_sources;
  posix::Fd m_child_side, m_child_err, m_child_in;
  bool m_pty = false, m_is_input_open = false;
  bool m_is_stdout_gone = false;
  posix::Fd m_input;   // to qrsh's stdin
  std::string m_typed; // read from the user, not yet taken by qrsh
  std::optional<posix::RawMode> m_raw;
};

} // namespace shim::allocation
