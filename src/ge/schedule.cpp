#include "slurm_shim/ge/schedule.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/fd.h"

#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shim::ge {

namespace {

// Between two runs of the scheduler.
constexpr std::string_view k_separator = "::::::::";
constexpr std::size_t k_tail_bytes = std::size_t{1} << 20; // many runs; the file grows for ever

std::string tail_of(const std::string& path) {
  const posix::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  const auto size = static_cast<std::size_t>(info.st_size);
  const auto begin = size > k_tail_bytes ? size - k_tail_bytes : 0;
  std::string text(size - begin, '\0');
  const auto got = ::pread(fd.get(), text.data(), text.size(), static_cast<off_t>(begin));
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

} // namespace

ReservedStarts parse_schedule(std::string_view text) {
  // A run ends with the separator; what follows the last one is still being written.
  const auto end = text.rfind(k_separator);
  if (end == std::string_view::npos) return {};
  const auto before = end == 0 ? std::string_view::npos : text.rfind(k_separator, end - 1);
  const auto begin = before == std::string_view::npos ? 0 : before + k_separator.size();
  ReservedStarts starts;
  for (const auto line : split(text.substr(begin, end - begin), '\n')) {
    // job:task:state:start:duration:level:object:resource:amount
    const auto fields = split(line, ':');
    if (fields.size() < 4 || fields[2] != "RESERVING") continue;
    const auto job = parse_int<std::uint64_t>(fields[0]);
    const auto task = parse_int<std::uint32_t>(fields[1]);
    const auto start = parse_time(fields[3]);
    if (job && task && start > 0) starts.emplace(TaskKey{*job, *task}, start);
  }
  return starts;
}

ReservedStarts read_schedule(const EnvList& env) {
  const auto root = env.get_or("SGE_ROOT", "");
  if (root.empty()) return {};
  return parse_schedule(
      tail_of(root + "/" + env.get_or("SGE_CELL", "default") + "/common/schedule"));
}

} // namespace shim::ge
