#include "spool.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <deque>

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace shim::commands::doctor {

namespace {

constexpr int k_max_links = 40;

// An access ACL beside the mode: named users or groups may be let in, which the mode's last three
// bits do not show.
bool has_acl(const std::string& path) {
  return ::lgetxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) > 0;
}

std::string mode_text(mode_t mode) {
  return fmt::format("{:04o}", mode & 07777);
}

void push_front(std::deque<std::string>& parts, std::string_view path) {
  std::deque<std::string> more;
  for (const auto part : split(path, '/'))
    if (!part.empty() && part != ".") more.emplace_back(part);
  parts.insert(parts.begin(), more.begin(), more.end());
}

} // namespace

SpoolFinding walk_spool(const std::string& path) {
  using State = SpoolFinding::State;
  if (!path.starts_with('/')) return {State::unknown, "\"" + path + "\" is no absolute path"};
  std::deque<std::string> parts;
  push_front(parts, path);
  std::string here = "/";
  int links = 0;
  while (true) {
    struct stat info {};
    const auto shown = here;
    if (::lstat(here.c_str(), &info) != 0) {
      const int error = errno;
      if (error == ENOENT)
        return {State::open,
                "all folders down to " + posix::dir_name(shown) + " can be walked through (" +
                    shown + " does not exist yet)"};
      return {State::unknown, shown + ": " + std::strerror(error)};
    }
    if (S_ISLNK(info.st_mode)) {
      char target[4096];
      const auto size = ::readlink(here.c_str(), target, sizeof target);
      if (size <= 0 || ++links > k_max_links)
        return {State::unknown, shown + ": a link that leads nowhere"};
      const std::string_view text(target, static_cast<std::size_t>(size));
      here = text.starts_with('/') ? "/" : posix::dir_name(here);
      push_front(parts, text);
    } else if (S_ISDIR(info.st_mode)) {
      if ((info.st_mode & S_IXOTH) == 0)
        return {State::closed,
                shown + " has mode " + mode_text(info.st_mode) +
                    (has_acl(shown) ? " and an ACL for named users or groups" : "")};
      if (parts.empty())
        return {State::open,
                "every folder down to " + shown +
                    " can be walked "
                    "through by every user"};
    } else {
      return {State::unknown, shown + " is no folder"};
    }
    if (parts.empty()) return {State::unknown, shown + " is no folder"};
    const auto next = parts.front();
    parts.pop_front();
    if (next == "..") {
      here = posix::dir_name(here);
      continue;
    }
    here = here == "/" ? "/" + next : here + "/" + next;
  }
}

} // namespace shim::commands::doctor
