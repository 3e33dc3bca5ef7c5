#include "slurm_shim/posix/files.h"

#include "slurm_shim/base/assert.h"

#include <climits>

#include <cerrno>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shim::posix {

Result<std::string> read_fd(int fd, std::size_t limit) {
  std::string out;
  std::size_t used = 0;
  for (;;) {
    // Most files are small, and pages that are not touched cost nothing.
    if (out.size() == used) out.resize(used == 0 ? 4096 : 4 * used);
    const auto got = ::read(fd, out.data() + used, out.size() - used);
    if (got < 0) {
      if (errno == EINTR) continue;
      return fail_errno("read", errno);
    }
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
    if (used > limit)
      return fail(ErrorKind::malformed, "more than " + std::to_string(limit) + " bytes");
  }
  out.resize(used);
  return out;
}

namespace {
Result<std::string> read_and_name(const Fd& fd, const std::string& path, std::size_t limit) {
  auto text = read_fd(fd.get(), limit);
  if (!text) return tl::unexpected<Error>(std::move(text).error().context(path));
  return text;
}
} // namespace

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  TRY_ASSIGN(const auto fd, open_file(path, O_RDONLY));
  return read_and_name(fd, path, limit);
}

Result<void> check_trusted(int fd, const std::string& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return fail_errno(path, errno);
  const char* reason = nullptr;
  if (!S_ISREG(info.st_mode))
    reason = "not a regular file";
  else if (info.st_uid != ::geteuid())
    reason = "owned by somebody else";
  else if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    reason = "writable by others";
  if (reason != nullptr) return fail(ErrorKind::refused, path + ": " + reason);
  return {};
}

Result<Fd> open_trusted(const std::string& path) {
  TRY_ASSIGN(auto fd, open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  TRY(check_trusted(fd.get(), path));
  return fd;
}

Result<std::string> read_trusted(const std::string& path, std::size_t limit) {
  TRY_ASSIGN(const auto fd, open_trusted(path));
  return read_and_name(fd, path, limit);
}

Result<void> write_file_atomic(const std::string& path, std::string_view bytes, unsigned mode) {
  const std::string temporary =
      dir_name(path) + "/." + std::string(base_name(path)) + "." + std::to_string(::getpid());
  const auto give_up = [&](std::string_view what, int error_number) {
    ::unlink(temporary.c_str());
    return fail_errno(what, error_number);
  };
  TRY_ASSIGN(auto fd, open_file(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode));
  if (::fchmod(fd.get(), static_cast<mode_t>(mode)) != 0) return give_up(temporary, errno);
  if (const int error = write_all(fd.get(), bytes); error != 0) return give_up(temporary, error);
  if (::fsync(fd.get()) != 0) return give_up(temporary, errno);
  if (::close(fd.release()) != 0) return give_up(temporary, errno);
  if (::rename(temporary.c_str(), path.c_str()) != 0) return give_up(path, errno);
  return {};
}

Result<void> make_directories(const std::string& path, unsigned mode) {
  struct stat last {};
  if (path.empty() || (::stat(path.c_str(), &last) == 0 && S_ISDIR(last.st_mode))) return {};
  for (std::size_t at = 0; at != std::string::npos;) {
    at = path.find('/', at + 1);
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), static_cast<mode_t>(mode)) == 0) continue;
    const int error = errno;
    struct stat info {};
    // A parent that exists may answer EACCES or EROFS instead of EEXIST.
    if (::stat(part.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) continue;
    return fail_errno(part, error == EEXIST ? ENOTDIR : error);
  }
  return {};
}

Result<void> append_line(const std::string& path, std::string_view line) {
  TRY_ASSIGN(const auto fd, open_file(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW));
  ssize_t written = -1;
  do {
    written = ::write(fd.get(), line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) return fail_errno(path, errno);
  if (static_cast<std::size_t>(written) != line.size()) return fail_errno(path, ENOSPC);
  return {};
}

bool exists(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

bool is_executable_file(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

Result<std::string> current_directory() {
  char buffer[PATH_MAX];
  if (::getcwd(buffer, sizeof buffer) == nullptr) return fail_errno("getcwd", errno);
  return std::string(buffer);
}

Result<std::string> self_path() {
  static std::string known; // a process keeps its program
  if (!known.empty()) return known;
  char buffer[PATH_MAX];
  const auto length = ::readlink("/proc/self/exe", buffer, sizeof buffer);
  if (length < 0) return fail_errno("/proc/self/exe", errno);
  known.assign(buffer, static_cast<std::size_t>(length));
  return known;
}

std::string absolute(std::string_view path, std::string_view base) {
  if (path.starts_with('/')) return std::string(path);
  std::string out(base);
  if (!out.ends_with('/')) out += '/';
  out += path;
  return out;
}

std::string_view base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string dir_name(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : std::string(path.substr(0, slash));
}

std::string random_hex(std::size_t count) {
  std::string bytes(count, '\0');
  std::size_t have = 0;
  while (have < count) {
    const auto got = ::getrandom(bytes.data() + have, count - have, 0);
    if (got < 0) {
      SHIM_ASSERT(errno == EINTR);
      continue;
    }
    have += static_cast<std::size_t>(got);
  }
  constexpr std::string_view k_digits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += k_digits[byte >> 4U];
    out += k_digits[byte & 15U];
  }
  return out;
}

} // namespace shim::posix
