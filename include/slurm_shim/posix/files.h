#pragma once
// Whole files with bounds and with suspicion: bounded reads, writes by rename, and the checks that
// decide whether a file of the user's may be trusted (spec job-files 1: "foreign").

#include "slurm_shim/base/result.h"
#include "slurm_shim/posix/fd.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shim::posix {

inline constexpr std::size_t k_max_file_bytes = std::size_t{64} << 20;

// ErrorKind::not_found when the file does not exist; malformed when it is larger than `limit`.
[[nodiscard]] Result<std::string> read_file(const std::string& path,
                                            std::size_t limit = k_max_file_bytes);
[[nodiscard]] Result<std::string> read_fd(int fd, std::size_t limit = k_max_file_bytes);

// open(O_NOFOLLOW) and fstat: regular, owner is the effective uid, not writable by group or other.
// ErrorKind::not_found when missing, refused ("foreign") when a check fails.
[[nodiscard]] Result<Fd> open_trusted(const std::string& path);
// The checks alone, for a descriptor opened with O_NOFOLLOW in another way; `path` names it.
[[nodiscard]] Result<void> check_trusted(int fd, const std::string& path);
[[nodiscard]] Result<std::string> read_trusted(const std::string& path,
                                               std::size_t limit = k_max_file_bytes);

// `.<name>.<pid>` beside the target, fsync, rename. `mode` whatever the umask.
[[nodiscard]] Result<void>
write_file_atomic(const std::string& path, std::string_view bytes, unsigned mode = 0600);
// mkdir -p; new directories get `mode`; fine when it is there already.
[[nodiscard]] Result<void> make_directories(const std::string& path, unsigned mode = 0700);
// One write(2) on an O_APPEND descriptor of a file created 0600 when missing.
[[nodiscard]] Result<void> append_line(const std::string& path, std::string_view line);

[[nodiscard]] bool exists(const std::string& path);
[[nodiscard]] bool is_executable_file(const std::string& path);
[[nodiscard]] Result<std::string> current_directory();
// Absolute path of the running binary (/proc/self/exe).
[[nodiscard]] Result<std::string> self_path();
// `path` if absolute, else `base`/`path`; purely textual.
[[nodiscard]] std::string absolute(std::string_view path, std::string_view base);
[[nodiscard]] std::string_view base_name(std::string_view path);
[[nodiscard]] std::string dir_name(std::string_view path);

// `count` random bytes from getrandom(2) as 2*count lower-case hex digits.
[[nodiscard]] std::string random_hex(std::size_t count);

} // namespace shim::posix
