#include "slurm_shim/posix/process_tree.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/fd.h"
#include "slurm_shim/posix/files.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace shim::posix {

namespace {

constexpr auto k_sweep_limit = std::chrono::seconds(10);

// Between two rounds of a sweep. The killed end within microseconds; a process that forks as fast
// as it can gets no further in that time than the next round's list of children.
constexpr auto k_shortest_nap = std::chrono::microseconds(100);
constexpr auto k_longest_nap = std::chrono::microseconds(10'000);
constexpr auto k_patient_nap = std::chrono::microseconds(50'000); // for who ends by himself

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// The numeric names in a directory of /proc.
std::vector<pid_t> numeric_entries(const std::string& path) {
  std::vector<pid_t> out;
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(path.c_str()));
  if (!directory) return out;
  while (const auto* entry = ::readdir(directory.get()))
    if (const auto number = parse_int<pid_t>(entry->d_name)) out.push_back(*number);
  return out;
}

// The parent in /proc/<pid>/stat: the second word behind the last ')' (the name may hold any).
std::optional<pid_t> parent_of(pid_t pid) {
  const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  if (!stat) return std::nullopt;
  const auto words = split_words(std::string_view(*stat).substr(stat->rfind(')') + 1));
  return words.size() < 2 ? std::nullopt : parse_int<pid_t>(words[1]);
}

bool has_children_files() {
  static const bool has = exists("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  return has;
}

std::vector<pid_t> children_by_scan(pid_t pid) {
  std::vector<pid_t> out;
  for (const auto candidate : numeric_entries("/proc"))
    if (parent_of(candidate) == pid) out.push_back(candidate);
  return out;
}

} // namespace

bool become_subreaper() {
  return ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

std::vector<pid_t> children_of(pid_t pid) {
  if (!has_children_files()) return children_by_scan(pid);
  std::vector<pid_t> out;
  const auto tasks = "/proc/" + std::to_string(pid) + "/task";
  for (const auto task : numeric_entries(tasks)) {
    const auto text = read_file(tasks + "/" + std::to_string(task) + "/children");
    if (!text) continue;
    for (const auto word : split_words(*text))
      if (const auto child = parse_int<pid_t>(word)) out.push_back(*child);
  }
  return out;
}

std::vector<pid_t> descendants_of(pid_t pid) {
  return descendants_of(pid, [](pid_t) { return false; });
}

std::vector<pid_t> descendants_of(pid_t pid, const std::function<bool(pid_t)>& pruned) {
  std::vector<pid_t> out;
  const auto add_children = [&](pid_t parent) {
    for (const auto child : children_of(parent))
      if (!pruned(child)) out.push_back(child);
  };
  add_children(pid);
  std::size_t next = 0; // `out` grows
  while (next < out.size())
    add_children(out[next++]);
  return out;
}

namespace {

struct Signalled {
  int done = 0;
  int refused = 0; // another user's process
  int spared = 0;
};

Signalled signal_all(int number, pid_t except, const std::function<bool(pid_t)>& spared) {
  Signalled out;
  for (const auto pid : descendants_of(::getpid())) {
    if (pid == except) continue;
    if (spared && spared(pid))
      ++out.spared;
    else if (::kill(pid, number) == 0)
      ++out.done;
    else if (errno == EPERM)
      ++out.refused;
  }
  return out;
}

} // namespace

int signal_descendants(int number, pid_t except, const std::function<bool(pid_t)>& spared) {
  return signal_all(number, except, spared).done;
}

bool sweep_descendants(const std::function<void(pid_t, int)>& on_reaped,
                       const std::function<bool(pid_t)>& spared) {
  const auto deadline = std::chrono::steady_clock::now() + k_sweep_limit;
  for (auto nap = k_shortest_nap;;) {
    int status = 0;
    const auto pid = ::waitpid(-1, &status, WNOHANG);
    if (pid > 0) {
      on_reaped(pid, status);
      nap = k_shortest_nap;
      continue;
    }
    if (pid < 0 && errno == ECHILD) return true;
    // Something lives. That nothing was there to be signalled proves nothing: a process that
    // changes parents is in no list of children for a moment. Only a refusal with nobody else to
    // kill is final.
    const auto sent = signal_all(SIGKILL, 0, spared);
    if (sent.done == 0 && sent.spared == 0 && sent.refused > 0) return false;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(sent.done == 0 && sent.spared > 0 ? k_patient_nap : nap);
    nap = std::min(nap * 2, k_longest_nap);
  }
}

} // namespace shim::posix
