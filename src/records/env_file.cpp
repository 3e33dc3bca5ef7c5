#include "slurm_shim/records/env_file.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/clock.h"
#include "slurm_shim/posix/files.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fcntl.h>

namespace shim::records {

namespace {

constexpr std::string_view k_head = "slurm-shim-env 1 ";
constexpr std::chrono::milliseconds k_retry{200};

constexpr std::array<std::string_view, 15> k_engine_names{"ARC",
                                                          "ENVIRONMENT",
                                                          "JOB_ID",
                                                          "JOB_NAME",
                                                          "JOB_SCRIPT",
                                                          "NHOSTS",
                                                          "NQUEUES",
                                                          "NSLOTS",
                                                          "PE",
                                                          "PE_HOSTFILE",
                                                          "QUEUE",
                                                          "REQUEST",
                                                          "RESTARTED",
                                                          "TASK_ID",
                                                          "TMP"};

tl::unexpected<Error> foreign(std::string why) {
  return fail(ErrorKind::malformed, "not an environment file: " + std::move(why));
}

} // namespace

bool is_engine_name(std::string_view name) {
  return name == "TMPDIR" || name.starts_with("SGE_") ||
         std::find(k_engine_names.begin(), k_engine_names.end(), name) != k_engine_names.end();
}

std::vector<std::string> select_environment(const EnvList& env,
                                            std::span<const std::string_view> job_variables,
                                            const std::vector<std::string>& named) {
  std::vector<std::string> out;
  for (const auto& entry : env.entries()) {
    const auto name = EnvList::name_of(entry);
    if (name.empty() || name.starts_with("SLURM_SHIM_") || is_engine_name(name)) continue;
    if (std::find(job_variables.begin(), job_variables.end(), name) != job_variables.end())
      continue;
    out.push_back(entry);
  }
  out.insert(out.end(), named.begin(), named.end());
  return EnvList(std::move(out)).entries();
}

Result<void> check_environment(const std::vector<std::string>& entries) {
  std::size_t total = 0;
  for (const auto& entry : entries) {
    total += entry.size() + 1;
    if (entry.size() > k_max_env_string)
      return fail(ErrorKind::usage,
                  "environment variable " + std::string(EnvList::name_of(entry)) + " has " +
                      std::to_string(entry.size()) + " bytes, at most " +
                      std::to_string(k_max_env_string) + " can be passed to a program");
  }
  if (total > k_max_env_file - 64)
    return fail(ErrorKind::usage,
                "the environment has " + std::to_string(total) + " bytes, at most " +
                    std::to_string(k_max_env_file) + " can be passed on");
  return {};
}

std::string encode_environment(const std::vector<std::string>& entries) {
  std::string out(k_head);
  out += std::to_string(entries.size());
  out += '\0';
  for (const auto& entry : entries) {
    out += entry;
    out += '\0';
  }
  return out;
}

Result<std::vector<std::string>> decode_environment(std::string_view bytes) {
  const auto head_end = bytes.find('\0');
  if (!bytes.starts_with(k_head) || head_end == std::string_view::npos)
    return foreign("unknown head");
  const auto count = parse_int<std::size_t>(bytes.substr(k_head.size(), head_end - k_head.size()));
  if (!count) return foreign("no count in its head");
  bytes.remove_prefix(head_end + 1);
  std::vector<std::string> entries;
  while (!bytes.empty()) {
    const auto end = bytes.find('\0');
    if (end == std::string_view::npos) return foreign("it ends inside a variable");
    const auto entry = bytes.substr(0, end);
    const auto eq = entry.find('=');
    if (eq == std::string_view::npos || eq == 0) return foreign("a variable without a name");
    entries.emplace_back(entry);
    bytes.remove_prefix(end + 1);
  }
  if (entries.size() != *count)
    return foreign(std::to_string(entries.size()) + " variables where its head says " +
                   std::to_string(*count));
  return entries;
}

Result<void> write_environment(const std::string& path, const std::vector<std::string>& entries) {
  TRY(check_environment(entries));
  return posix::write_file_atomic(path, encode_environment(entries));
}

namespace {

// Through the folder's own descriptor: a name that was missing a moment ago may be remembered as
// missing by a network file system, unless the folder is opened anew.
Result<posix::Fd> open_through_folder(const std::string& path) {
  TRY_ASSIGN(const auto folder, posix::open_file(posix::dir_name(path), O_RDONLY | O_DIRECTORY));
  const std::string name(posix::base_name(path));
  posix::Fd fd(
      ::openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return fail_errno(path, errno);
  TRY(posix::check_trusted(fd.get(), path));
  return fd;
}

} // namespace

Result<std::string> read_when_visible(const std::string& path, std::chrono::milliseconds patience) {
  posix::SystemClock clock;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  auto fd = open_through_folder(path);
  while (!fd && fd.error().kind == ErrorKind::not_found &&
         std::chrono::steady_clock::now() < deadline) {
    clock.sleep_for(k_retry);
    fd = open_through_folder(path);
  }
  if (!fd) return tl::unexpected<Error>(std::move(fd).error());
  auto bytes = posix::read_fd(fd->get(), k_max_env_file);
  if (!bytes) return tl::unexpected<Error>(std::move(bytes).error().context(path));
  return bytes;
}

Result<std::vector<std::string>> read_environment(const std::string& path,
                                                  std::chrono::milliseconds patience) {
  TRY_ASSIGN(const auto bytes, read_when_visible(path, patience));
  auto entries = decode_environment(bytes);
  if (!entries) return tl::unexpected<Error>(std::move(entries).error().context(path));
  return entries;
}

} // namespace shim::records
