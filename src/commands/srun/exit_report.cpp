#include "exit_report.h"

#include <algorithm>
#include <csignal>
#include <cstring>

#include <sys/wait.h>

namespace shim::commands::srun {

std::string compress_ranks(const std::vector<int>& ranks) {
  std::string out;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1)
      ++last;
    if (!out.empty()) out += ',';
    out += std::to_string(ranks[i]);
    if (last > i) out += '-' + std::to_string(ranks[last]);
    i = last + 1;
  }
  return out;
}

std::string name_tasks(const std::vector<int>& ranks) {
  return (ranks.size() == 1 ? "task " : "tasks ") + compress_ranks(ranks);
}

std::string describe_end(int code, int wait_status) {
  if (!WIFSIGNALED(wait_status)) return "Exited with exit code " + std::to_string(code);
  const char* text = sigdescr_np(WTERMSIG(wait_status));
  std::string out =
      text != nullptr ? text : "Unknown signal " + std::to_string(WTERMSIG(wait_status));
  if (WCOREDUMP(wait_status)) out += " (core dumped)";
  return out;
}

void ExitReport::note_code(int code) {
  if (code == 0) return;
  if (m_first == 0) m_first = code;
  m_highest = std::max(m_highest, code);
}

void ExitReport::add(const std::string& host, int rank, int code, int wait_status) {
  if (code == 0) return;
  if (code > m_highest) m_signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
  note_code(code);
  if (WIFSIGNALED(wait_status)) {
    const int number = WTERMSIG(wait_status);
    if (number == SIGKILL || number == SIGTERM) m_forced = true;
  }
  m_pending[{host, describe_end(code, wait_status)}].push_back(rank);
}

std::vector<std::string> ExitReport::take_messages() {
  std::vector<std::string> out;
  for (auto& [key, ranks] : m_pending) {
    std::sort(ranks.begin(), ranks.end());
    out.push_back("error: " + key.first + ": " + name_tasks(ranks) + ": " + key.second);
  }
  m_pending.clear();
  return out;
}

bool ExitReport::take_forced() {
  if (!m_forced || m_forced_told) return false;
  m_forced_told = true;
  return true;
}

} // namespace shim::commands::srun
