#include "slurm_shim/posix/process_tree.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/fd.h"
#include "slurm_shim/posix/files.h"

#include <cerrno>
#include <csignal>
#include <memory>
#include <optional>
#include <string>

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace shim::posix {

namespace {

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
  auto out = children_of(pid);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto below = children_of(out[i]);
    out.insert(out.end(), below.begin(), below.end());
  }
  return out;
}

int signal_descendants(int number, pid_t except) {
  int signalled = 0;
  for (const auto pid : descendants_of(::getpid()))
    if (pid != except && ::kill(pid, number) == 0) ++signalled;
  return signalled;
}

void sweep_descendants(const std::function<void(pid_t, int)>& on_reaped) {
  for (;;) {
    int status = 0;
    pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid == 0) {
      // Something lives. With somebody killed the wait below ends; nobody killed means that a child
      // ended between the two calls (none is listed any more), or that it may not be killed.
      if (signal_descendants(SIGKILL, 0) > 0)
        pid = ::waitpid(-1, &status, 0);
      else if (!children_of(::getpid()).empty())
        return;
      else
        continue;
    }
    if (pid > 0)
      on_reaped(pid, status);
    else if (errno == ECHILD)
      return;
  }
}

} // namespace shim::posix
