#include "slurm_shim/base/strings.h"
#include "slurm_shim/layout/layout.h"
#include "slurm_shim/posix/fd.h"

#include <cerrno>
#include <limits>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace shim::layout {
namespace {

constexpr std::size_t k_longest = 64;

Result<int> last_id(int fd, const std::string& path) {
  char buffer[k_longest];
  const auto got = ::pread(fd, buffer, sizeof buffer, 0);
  if (got < 0) return fail_errno(path, errno);
  const auto text = trim(std::string_view(buffer, static_cast<std::size_t>(got)));
  if (text.empty()) return -1;
  const auto id = parse_int<int>(text);
  if (!id || *id < -1 || *id == std::numeric_limits<int>::max())
    return fail(ErrorKind::malformed, path + ": corrupt step counter");
  return *id;
}

// Written before it is cut to length, so that a crash in between leaves a number that is at least
// as high as the last one issued.
Result<void> store(int fd, int id, const std::string& path) {
  const auto text = std::to_string(id) + "\n";
  if (::pwrite(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return fail_errno(path, errno);
  if (::ftruncate(fd, static_cast<off_t>(text.size())) != 0) return fail_errno(path, errno);
  return {};
}

} // namespace

Result<int> next_step_id(const std::string& directory) {
  const auto path = directory + "/" + std::string(k_counter_file);
  TRY_ASSIGN(const auto file, posix::open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  while (::flock(file.get(), LOCK_EX) != 0)
    if (errno != EINTR) return fail_errno(path, errno);
  TRY_ASSIGN(const int last, last_id(file.get(), path));
  TRY(store(file.get(), last + 1, path));
  return last + 1;
}

Result<int> peek_step_id(const std::string& directory) {
  const auto path = directory + "/" + std::string(k_counter_file);
  const auto file = posix::open_file(path, O_RDONLY | O_NOFOLLOW);
  if (!file) return 0; // nobody has taken one yet
  TRY_ASSIGN(const int last, last_id(file->get(), path));
  return last + 1;
}

} // namespace shim::layout
