#pragma once
// Running jobs end as in Slurm: TERM to the script, all that it started and the steps, KILL after
// kill_wait. The engine's qdel leaves no time, so the job's own supervisor does it; who has none,
// or gets no answer, is left to qdel. Spec commands 3, vectors/13.

#include "cancel.h"

#include "slurm_shim/queue/queue.h"

#include <cstdint>
#include <string>
#include <vector>

namespace shim::commands::scancel {

class GentleEnd {
public:
  explicit GentleEnd(const Engine& engine) : m_engine(engine) {}
  // Asks the job's supervisor. False: there is none that would listen. All jobs are asked before
  // the first answer is waited for.
  bool ask(const queue::Job& job);
  // Waits, for all jobs together no longer than a few seconds; those that qdel has to end.
  [[nodiscard]] std::vector<queue::Job> without_answer();

private:
  struct Asked {
    queue::Job job;
    std::string request;
  };
  const Engine& m_engine;
  std::int64_t m_deadline_ms = 0; // counts from the first request
  std::vector<Asked> m_asked;
};

} // namespace shim::commands::scancel
