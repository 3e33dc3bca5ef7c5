#include "job_folder.h"

#include "slurm_shim/posix/fd.h"
#include "slurm_shim/posix/files.h"

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shim::commands::env {
namespace {

std::string layout_path(const records::JobFolder& folder, std::string_view name) {
  return folder.root() + "/" + std::string(name);
}

std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n')
      out += "; ";
    else
      out += c;
  }
  return out + "\n";
}

} // namespace

Result<void> open_folder(const records::JobFolder& folder) {
  const auto& path = folder.root();
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return fail_errno(path, errno);
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return fail_errno(path, errno);
  const bool ours = S_ISDIR(info.st_mode) && info.st_uid == ::geteuid() &&
                    (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  if (!ours) return fail(ErrorKind::refused, path + ": not a folder that is private to this user");
  if (::chmod(path.c_str(), 0700) != 0) return fail_errno(path, errno);
  return {};
}

void clear_folder(const records::JobFolder& folder) {
  for (const auto& path : {folder.environment(),
                           folder.environment_failed(),
                           folder.batch_json(),
                           folder.preflight(),
                           layout_path(folder, layout::k_layout_file),
                           layout_path(folder, layout::k_counter_file),
                           folder.shim()})
    ::unlink(path.c_str());
}

Result<void> link_shim(const records::JobFolder& folder, const std::string& binary) {
  const auto path = folder.shim();
  if (::symlink(binary.c_str(), path.c_str()) != 0) return fail_errno(path, errno);
  return {};
}

Result<void> make_lock(const records::JobFolder& folder) {
  TRY(posix::open_file(folder.lock(), O_WRONLY | O_CREAT | O_NOFOLLOW, 0600));
  return {};
}

Result<void>
write_layout(const records::JobFolder& folder, const layout::Layout& layout, bool keep_counter) {
  const auto counter = layout_path(folder, layout::k_counter_file);
  if (!keep_counter || !posix::exists(counter)) TRY(posix::write_file_atomic(counter, "-1\n"));
  return posix::write_file_atomic(layout_path(folder, layout::k_layout_file),
                                  layout::to_json(layout));
}

Result<void> write_environment(const records::JobFolder& folder, std::string_view text) {
  TRY(posix::write_file_atomic(folder.environment(), text));
  ::unlink(folder.environment_failed().c_str());
  return {};
}

Result<void> write_failure(const records::JobFolder& folder, std::string_view reason) {
  ::unlink(folder.environment().c_str());
  return posix::write_file_atomic(folder.environment_failed(), one_line(reason));
}

Result<void> remove_folder(const records::JobFolder& folder) {
  std::error_code error;
  std::filesystem::remove_all(folder.root(), error);
  if (error) return fail_errno(folder.root(), error.value());
  return {};
}

} // namespace shim::commands::env
