#pragma once
// Writes buffers to descriptors that may block for ever and must not be made non-blocking (stdout
// is shared with the shell). Small writes that cannot block happen at once; everything else goes
// through one thread with a bounded queue, which is started when it is first needed and whose
// progress shows on an eventfd. Order is kept across all sinks. The only thread of srun (256 KiB of
// stack; mallopt(M_ARENA_MAX, 1) comes before it). Spec mux "For the port", decisions 11, 13a.

#include "slurm_shim/base/result.h"
#include "slurm_shim/posix/fd.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace shim::mux {

class Writer {
public:
  Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer();

  // A descriptor of srun's own (1, 2) or one that the writer closes at the end. Gives the sink's
  // number. `name` is for messages.
  int add_sink(int borrowed_fd, std::string name);
  int add_sink(posix::Fd fd, std::string name);

  // The buffer to append to; flush() sends it on its way.
  [[nodiscard]] std::string& buffer(int sink);
  void flush();
  // More than the bound is waiting: stop reading what feeds this writer until progress().
  [[nodiscard]] bool is_full() const;
  // Readable when the thread has taken something off the queue; -1 before the first start.
  [[nodiscard]] int progress_fd() const;
  // To be called when progress_fd is readable.
  void acknowledge_progress();
  [[nodiscard]] bool is_idle() const; // everything flushed is written (or failed)
  // Waits until everything is written (or failed).
  void drain();
  // Gives up: what is not written yet is dropped and nothing waits for a blocked write any more.
  void abandon();

  // First write error per sink, each told once: "write error: stdout: No space left on device".
  // EPIPE is told by broken_pipe() instead.
  [[nodiscard]] std::vector<std::string> take_errors();
  [[nodiscard]] bool broken_pipe() const;

private:
  struct State;
  void start_thread();
  [[nodiscard]] bool write_small(int number);
  std::unique_ptr<State> m_state;
};

} // namespace shim::mux
