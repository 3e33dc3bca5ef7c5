#pragma once
// How the ranks of a step ended: Slurm's messages, grouped per host and reason, and the exit code
// of srun. Pure. Decisions 1 and 6, spec launch 4, vectors 06.

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace shim::commands::srun {

// "0-2,5" of ascending ranks.
[[nodiscard]] std::string compress_ranks(const std::vector<int>& ranks);
// "task 3" or "tasks 0-2,5".
[[nodiscard]] std::string name_tasks(const std::vector<int>& ranks);
// "Exited with exit code 3", "Killed", "Segmentation fault (core dumped)".
[[nodiscard]] std::string describe_end(int code, int wait_status);

class ExitReport {
public:
  explicit ExitReport(bool first_code_counts) : m_first_counts(first_code_counts) {}

  void add(const std::string& host, int rank, int code, int wait_status);
  // A failure without a message of its own (a lost rank).
  void add_silently(int code) { note_code(code); }
  // Whole lines without prefix, for what was added since the last call: per host and reason
  // "error: node001: tasks 0-2: Exited with exit code 3".
  [[nodiscard]] std::vector<std::string> take_messages();
  [[nodiscard]] bool has_messages() const { return !m_pending.empty(); }

  // True once, when the first task that ended by KILL or TERM has been told about.
  [[nodiscard]] bool take_forced();
  [[nodiscard]] int first_bad_code() const { return m_first; }
  [[nodiscard]] int highest_code() const { return m_highest; }
  // From now on the first bad code is the step's, whatever follows (kill-on-bad-exit fired).
  void latch_first() { m_latched = true; }
  [[nodiscard]] int step_code() const { return m_first_counts && m_latched ? m_first : m_highest; }
  [[nodiscard]] int last_signal() const { return m_signal; } // of the highest code; 0 = none

private:
  void note_code(int code);
  bool m_first_counts;
  bool m_latched = false;
  int m_first = 0, m_highest = 0, m_signal = 0;
  bool m_forced = false, m_forced_told = false;
  std::map<std::pair<std::string, std::string>, std::vector<int>> m_pending;
};

} // namespace shim::commands::srun
